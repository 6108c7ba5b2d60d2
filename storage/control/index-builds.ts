// Rows of control.index_builds: apps that have an index built, or had one when a process was killed.
import type { Sql } from '../connections/pool.ts';
import type { AppLocation } from '../provision/app.ts';

/** Adds an app, if it is not there. */
export async function insertBuild(sql: Sql, { database, schema }: AppLocation): Promise<void> {
  await sql`
    insert into control.index_builds (database, schema) values (${database}, ${schema}) on conflict do nothing`;
}

/** All of them. */
export async function listBuilds(sql: Sql): Promise<AppLocation[]> {
  return await sql<AppLocation[]>`select database, schema from control.index_builds`;
}

/** Removes an app. */
export async function deleteBuild(sql: Sql, { database, schema }: AppLocation): Promise<void> {
  await sql`delete from control.index_builds where database = ${database} and schema = ${schema}`;
}
