// An app's schema and the one role that owns it, made and dropped inside the caller's transaction.
import { applyMigration, latestVersion, type Schema } from '../boot/migrate.ts';
import type { Sql } from '../connections/pool.ts';
import { type Provisioning, tenantRole } from './cluster.ts';
import { quoteIdentifier } from '../quote.ts';
import { admitRoleText, createRoleText, inheritRoleText } from './roles.ts';

/** Where an app lives: the workspace's database, and the opaque name of its schema and role. */
export interface AppPlace {
  database: string;
  schema: string;
}

/** The schema that `migrations/app` changes. */
export function appSchema({ migrations, names }: Provisioning, schema: string): Schema {
  return { schema, table: '_migrations', migrations: migrations.app, groups: names.groups };
}

/**
 * Creates role, schema and tables; `sql` is the provisioner's transaction in the workspace's database. Answers the
 * version of the schema. App roles are members of the workspace's role only so that `samerole` in pg_hba admits them
 * to its database: they inherit nothing and cannot become it.
 */
export async function createAppSchema(
  sql: Sql,
  provisioning: Provisioning,
  place: AppPlace,
): Promise<number> {
  const { names, migrations } = provisioning;
  const role = tenantRole(provisioning, place.schema, { database: place.database, group: names.groups.app });
  const name = quoteIdentifier(role.name);
  await oneAtATime(sql);
  await sql.unsafe(`${createRoleText(role)}
    grant ${quoteIdentifier(place.database)} to ${name} with inherit false, set false;
    grant ${name} to current_user with inherit false, set true;
    ${admitRoleText(role)}
    create schema ${name} authorization ${name};
    set local role ${name};`);
  for (const migration of migrations.app) {
    await applyMigration(sql, appSchema(provisioning, place.schema), migration);
  }
  await sql`set local role none`;
  return latestVersion(migrations.app);
}

/** Drops everything an app has in the database: its connections, its schema with all in it, its rights, its role. */
export async function dropAppSchema(sql: Sql, schema: string): Promise<void> {
  const name = quoteIdentifier(schema);
  await oneAtATime(sql);
  // What another process runs in the app just now is ended below; whatever comes after that is not waited for long.
  await sql.unsafe(`set local lock_timeout = '5s'; ${inheritRoleText(schema)}`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${schema}`;
  await sql.unsafe(`drop owned by ${name} cascade; drop role ${name};`);
}

/** GRANT … ON DATABASE of two transactions at once would fail with "tuple concurrently updated". */
async function oneAtATime(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bulkhead apps', 0))`;
}
