// Rows of control.tenant_databases: every database that was begun and is not dropped yet.
import type { Sql } from '../connections/pool.ts';

/** The migrations that a database, and every app schema in it, has. */
export interface TenantVersions {
  workspace: number;
  app: number;
}

/** A database that is neither ready nor in use, left to the reaper by a crash or a deletion. */
export interface UnfinishedDatabase {
  name: string;
  state: 'creating' | 'dropping';
}

/** Assigns the oldest spare of these versions and returns its name. */
export async function takeSpare(sql: Sql, versions: TenantVersions): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    update control.tenant_databases set state = 'assigned'
    where name = (
      select name from control.tenant_databases
      where state = 'spare' and version = ${versions.workspace} and app_version = ${versions.app}
      order by created_at limit 1 for update skip locked
    )
    returning name`;
  return row?.name;
}

/** The number of spares. */
export async function countSpares(sql: Sql, versions: TenantVersions): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from control.tenant_databases
    where state = 'spare' and version = ${versions.workspace} and app_version = ${versions.app}`;
  return row?.count ?? 0;
}

/** Marks a created database as complete; false when the reaper has taken it meanwhile. */
export async function markSpare(sql: Sql, name: string): Promise<boolean> {
  const { count } = await sql`
    update control.tenant_databases set state = 'spare' where name = ${name} and state = 'creating'`;
  return count === 1;
}

/** What a copy becomes: a workspace's database, or one that is kept as it is. */
export type CopyState = 'assigned' | 'template';

/** Marks a complete copy as such; false when the reaper has taken it meanwhile. */
export async function assignCopy(sql: Sql, name: string, state: CopyState): Promise<boolean> {
  const { count } = await sql`
    update control.tenant_databases set state = ${state} where name = ${name} and state = 'creating'`;
  return count === 1;
}

/** Leaves a database to the reaper. */
export async function markDropping(sql: Sql, name: string): Promise<void> {
  await sql`update control.tenant_databases set state = 'dropping' where name = ${name}`;
}

/** The databases for the reaper. */
export async function listUnfinished(sql: Sql): Promise<UnfinishedDatabase[]> {
  return await sql<UnfinishedDatabase[]>`
    select name, state from control.tenant_databases where state in ('creating', 'dropping') order by created_at`;
}

/** Claims an unfinished database for dropping; false when it is finished, in use or dropped. */
export async function claimUnfinished(sql: Sql, name: string): Promise<boolean> {
  const { count } = await sql`
    update control.tenant_databases set state = 'dropping' where name = ${name} and state in ('creating', 'dropping')`;
  return count === 1;
}

/** Names of assigned databases, after the name `after`, at most `limit`. */
export async function listAssigned(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from control.tenant_databases where state = 'assigned' and name > ${after}
    order by name limit ${limit}`;
  return rows.map(({ name }) => name);
}

/** True when a workspace has this database. */
export async function isAssigned(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql`select 1 from control.tenant_databases where name = ${name} and state = 'assigned'`;
  return row !== undefined;
}

/** Removes the row of a database that was dropped. */
export async function removeDatabase(sql: Sql, name: string): Promise<void> {
  await sql`delete from control.tenant_databases where name = ${name}`;
}

/** The highest versions of any database. */
export async function highestVersions(sql: Sql): Promise<TenantVersions> {
  const [row] = await sql<TenantVersions[]>`
    select coalesce(max(version), 0) as workspace, coalesce(max(app_version), 0) as app from control.tenant_databases`;
  return row ?? { workspace: 0, app: 0 };
}

/** Names of the complete databases that lack a migration. */
export async function listOutdated(sql: Sql, versions: TenantVersions): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from control.tenant_databases
    where state in ('spare', 'assigned', 'template') and (version < ${versions.workspace} or app_version < ${versions.app})
    order by created_at`;
  return rows.map(({ name }) => name);
}

/** Stores that a database and all its apps have these versions. */
export async function setVersions(sql: Sql, name: string, versions: TenantVersions): Promise<void> {
  await sql`update control.tenant_databases set version = ${versions.workspace}, app_version = ${versions.app}
    where name = ${name}`;
}
