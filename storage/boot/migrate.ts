// Migrations: numbered SQL files, each of which runs once, in one transaction, and leaves a row.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Connection, Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import { type GroupRoles } from '../provision/roles.ts';
import { StartRefused } from './start-refused.ts';

/** The schemas that have migrations, one folder each. */
export type MigrationSet = 'control' | 'workspace' | 'app';

/** One file `NNNN_what.sql`. */
export interface Migration {
  version: number;
  name: string;
  text: string;
}

/** The migrations of every set, each in order and without gaps from 1. */
export type Migrations = Readonly<Record<MigrationSet, readonly Migration[]>>;

const folder = new URL('../../migrations/', import.meta.url);
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** Reads `migrations/`, or another folder of the same layout. Throws when numbers are not 1, 2, 3 …. */
export async function readMigrations(from: URL = folder): Promise<Migrations> {
  const [control, workspace, app] = await Promise.all([
    readSet(from, 'control'),
    readSet(from, 'workspace'),
    readSet(from, 'app'),
  ]);
  return { control, workspace, app };
}

async function readSet(from: URL, set: MigrationSet): Promise<Migration[]> {
  const directory = new URL(`${set}/`, from);
  const names = (await readdir(directory)).filter((name) => fileName.test(name)).sort();
  return await Promise.all(names.map(async (name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new Error(`migrations/${set}/${name}: expected number ${index + 1}`);
    return { version, name, text: await readFile(new URL(name, directory), 'utf8') };
  }));
}

/** The last version of a set. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.length;
}

/** A hash that differs whenever a file of the set differs. */
export function fingerprint(migrations: readonly Migration[], groups: GroupRoles): string {
  const hash = createHash('sha256');
  for (const migration of migrations) hash.update(`${migration.name}\0${bind(migration.text, groups)}\0`);
  return hash.digest('hex').slice(0, 32);
}

/** A schema to migrate, the table of its applied migrations, and the files. */
export interface MigratedSchema {
  schema: string;
  /** `_migrations` in app schemas, where every name that starts with a letter is a tenant's. */
  table: 'migrations' | '_migrations';
  migrations: readonly Migration[];
  groups: GroupRoles;
}

/**
 * Applies the missing migrations, each in a transaction of its own, and returns the version reached. An advisory lock
 * serializes several processes. Throws `StartRefused` when the database is newer.
 */
export async function migrate(connection: Connection, target: MigratedSchema): Promise<number> {
  const latest = latestVersion(target.migrations);
  const current = await connection.run((sql) => appliedVersion(sql, target));
  refuseNewer(`schema ${target.schema}`, current, latest);
  for (const migration of target.migrations.slice(current)) {
    await connection.transaction(async (sql) => {
      await liftTimeouts(sql);
      await sql`select pg_advisory_xact_lock(hashtextextended('bulkhead migrations', 0))`;
      await applyMigration(sql, target, migration);
    }, Infinity);
  }
  return latest;
}

/** Applies one migration in the caller's transaction, unless another process has done so. */
export async function applyMigration(sql: Sql, target: MigratedSchema, migration: Migration): Promise<void> {
  const table = `${quoteIdentifier(target.schema)}.${target.table}`;
  if (migration.version === 1) await sql.unsafe(bookkeeping(target, table));
  const claimed = await sql.unsafe(
    `insert into ${table} (version, name) values (${migration.version}, ${quoteLiteral(migration.name)})
     on conflict do nothing returning version`,
  );
  if (claimed.length === 0) return;
  // An app's migrations name no schema, since each app has another.
  const path = target.table === '_migrations' ? quoteIdentifier(target.schema) : `''`;
  await sql.unsafe(`set local search_path to ${path};
    ${bind(migration.text, target.groups)}
    ;
    set local search_path to '';`);
}

/** Throws `StartRefused` when a database has been used by a newer program. */
export function refuseNewer(what: string, current: number, known: number): void {
  if (current <= known) return;
  throw new StartRefused(
    `the database is newer than this program: ${what} is at version ${current}, this program knows ${known}; ` +
      'start a newer Bulkhead',
  );
}

/** The last applied migration; zero without schema or table. */
async function appliedVersion(sql: Sql, { schema, table }: MigratedSchema): Promise<number> {
  const name = `${quoteIdentifier(schema)}.${table}`;
  const [found] = await sql<{ exists: boolean }[]>`select to_regclass(${name}) is not null as exists`;
  if (found?.exists !== true) return 0;
  const [row] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from ${
    sql(schema)
  }.${sql(table)}`;
  return row?.version ?? 0;
}

/** An app's owner has neither the right nor the need to create its schema. */
function bookkeeping({ schema, table: kind }: MigratedSchema, table: string): string {
  const createSchema = kind === 'migrations' ? `create schema if not exists ${quoteIdentifier(schema)};` : '';
  return `${createSchema} create table if not exists ${table} (
    version integer primary key, name text not null, applied_at timestamptz not null default now())`;
}

/** A migration may take as long as it needs, also as a tenant's role. */
async function liftTimeouts(sql: Sql): Promise<void> {
  await sql`select set_config(name, '0', true) from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;
}

/** Replaces `:workspace_role` and the like by the group roles, as psql does with variables. */
function bind(text: string, groups: GroupRoles): string {
  return text
    .replaceAll(':workspace_role', quoteIdentifier(groups.workspace))
    .replaceAll(':app_role', quoteIdentifier(groups.app))
    .replaceAll(':app_owner_role', quoteIdentifier(groups.appOwner))
    .replaceAll(':auditor_role', quoteIdentifier(groups.auditor));
}
