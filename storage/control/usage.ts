// The size of an app or a workspace, and how much each was used (control.usage).
import { lockApps } from '../workspace/apps.ts';
import { actingAs, limitTime } from '../provision/acting.ts';
import type { Connection, Sql } from '../connections/pool.ts';
import { StorageError } from '../errors.ts';
import { jsonb } from '../sql/jsonb.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { qualified } from '../app/tables.ts';

/** A number of records. */
export interface RecordCount {
  records: number;
  /** False when a collection was so large that PostgreSQL's estimate was taken. */
  exact: boolean;
}

/** The size of an app, in bytes. */
export interface AppSize {
  /** Tables and indexes, with the space that deleted records left in them. */
  database_bytes: number;
  files: number;
  file_bytes: number;
}

/** The use of an app since it was last added. */
export interface Activity {
  workspace: string;
  /** The workspace's database, which no later workspace of its id has. */
  database: string;
  /** The app's schema, which no later app of its id has. */
  schema: string;
  requests: number;
  hook_runs: number;
  hook_cpu_ms: number;
}

/** Above this, counting a collection's records takes long, and PostgreSQL's estimate is within a few per cent. */
const maxCounted = 5_000_000;

/** Estimated rows of the tables that are too large to be counted, by schema and name. */
export type LargeTables = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The large tables of a schema, or of the whole database. Any role may read this. Throws `StorageError`. */
export async function findLargeTables(sql: Sql, schema?: string): Promise<LargeTables> {
  const only = schema ?? null;
  const rows = await sql<{ schema: string; name: string; rows: number }[]>`
    select n.nspname::text as schema, c.relname::text as name, c.reltuples::float8 as rows
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where (${only}::text is null or n.nspname = ${only}) and c.relkind = 'r' and c.reltuples > ${maxCounted}`;
  const found = new Map<string, Map<string, number>>();
  for (const { schema, name, rows: number } of rows) {
    found.set(schema, (found.get(schema) ?? new Map<string, number>()).set(name, number));
  }
  return found;
}

/** Runs work with the rights of an app; undefined when the app is deleted. */
export type AppRunner = <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result | undefined>;

/** Runs each work in a provisioner's transaction, which keeps the app from being deleted meanwhile. */
export function appRunner(provisioner: Pick<Connection, 'transaction'>, schema: string): AppRunner {
  return (work) =>
    provisioner.transaction(async (sql) => {
      await limitTime(sql);
      if (!(await lockApps(sql, [schema])).has(schema)) return undefined;
      return await actingAs(sql, schema, () => work(sql));
    });
}

/** The number of records of these collections, of which some may be dropped meanwhile. Throws `StorageError`. */
export async function countAppRecords(
  asApp: AppRunner,
  schema: string,
  collections: readonly string[],
  large?: LargeTables,
): Promise<RecordCount> {
  const estimated = (large ?? await asApp((sql) => findLargeTables(sql, schema)))?.get(schema);
  const sum = collections.reduce((total, name) => total + (estimated?.get(name) ?? 0), 0);
  const counted = collections.filter((name) => estimated?.has(name) !== true);
  const exact = counted.length === collections.length;
  return { records: sum + await countTables(asApp, schema, counted), exact };
}

/** One statement for all. When one of them is dropped, the halves are counted apart until it is found. */
async function countTables(
  asApp: AppRunner,
  schema: string,
  collections: readonly string[],
): Promise<number> {
  if (collections.length === 0) return 0;
  const counts = collections.map((collection) =>
    `(select count(*) from ${qualified({ schema, collection })})`
  );
  const text = `select (${counts.join(' + ')})::float8 as records`;
  try {
    const rows = await asApp((sql) => sql.unsafe<{ records: number }[]>(text));
    return rows?.[0]?.records ?? 0;
  } catch (error) {
    // The transaction has failed, so it is rolled back before the halves are counted.
    if (!isGone(error)) throw error;
  }
  if (collections.length === 1) return 0;
  const half = Math.ceil(collections.length / 2);
  return await countTables(asApp, schema, collections.slice(0, half)) +
    await countTables(asApp, schema, collections.slice(half));
}

/** The part of an app in the size of its workspace. */
export interface AppShare extends RecordCount, Omit<AppSize, 'database_bytes'> {
  collections: number;
}

/** The part of an app, or undefined when it is deleted. Throws `StorageError`. */
export async function readAppShare(
  asApp: AppRunner,
  schema: string,
  large: LargeTables,
): Promise<AppShare | undefined> {
  try {
    return await asApp((sql) => readShareWith((work) => work(sql), schema, large));
  } catch (error) {
    // A missing table ends the transaction. Then each statement has one of its own.
    if (!isGone(error)) throw error;
  }
  return await readShareWith(asApp, schema, large);
}

async function readShareWith(
  asApp: AppRunner,
  schema: string,
  large: LargeTables,
): Promise<AppShare | undefined> {
  const rows = await asApp((sql) =>
    sql.unsafe<{ collections: string[]; files: number; file_bytes: number }[]>(
      `select (select coalesce(jsonb_agg(id), '[]') from ${
        quoteIdentifier(schema)
      }._collections) as collections,
        count(*)::float8 as files, coalesce(sum(size), 0)::float8 as file_bytes
      from ${quoteIdentifier(schema)}._files`,
    )
  );
  if (rows?.[0] === undefined) return undefined;
  const { collections, files, file_bytes } = rows[0];
  const records = await countAppRecords(asApp, schema, collections, large);
  return { ...records, files, file_bytes, collections: collections.length };
}

function isGone(error: unknown): boolean {
  return error instanceof StorageError && error.failure === 'undefined';
}

/** The size of an app's schema and its files. `sql` has the app's role. Throws `StorageError`. */
export async function readAppSize(sql: Sql, schema: string): Promise<AppSize> {
  const [row] = await sql.unsafe<AppSize[]>(
    `select
      (select coalesce(sum(pg_catalog.pg_total_relation_size(c.oid)), 0)::float8
        from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind = 'r') as database_bytes,
      count(*)::float8 as files,
      coalesce(sum(size), 0)::float8 as file_bytes
    from ${quoteIdentifier(schema)}._files`,
    [schema],
  );
  return row ?? { database_bytes: 0, files: 0, file_bytes: 0 };
}

/** The bytes of an app's files. `sql` has the app's role. Throws `StorageError`. */
export async function readFileBytes(sql: Sql, schema: string): Promise<number> {
  const [row] = await sql.unsafe<{ bytes: number }[]>(
    `select coalesce(sum(size), 0)::float8 as bytes from ${quoteIdentifier(schema)}._files`,
  );
  return row?.bytes ?? 0;
}

/** Size of the database that `sql` is connected to, in bytes. Throws `StorageError`. */
export async function databaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_catalog.pg_database_size(pg_catalog.current_database())::float8 as bytes`;
  return row?.bytes ?? 0;
}

/** Number of end-users of the workspace that `sql` is connected to, as its own role or an app's. */
export async function countUsers(sql: Sql): Promise<number> {
  const [row] = await sql<{ users: number }[]>`select count(*)::float8 as users from workspace.users_public`;
  return row?.users ?? 0;
}

/**
 * The same under a lock: until the transaction ends, other transactions that add users wait. So a limit on their number
 * holds whatever the number of processes.
 */
export async function countUsersLocked(sql: Sql): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('users', 0))`;
  return await countUsers(sql);
}

/** Adds the use in an hour, which begins at `hour`. That of a deleted workspace is dropped, also when another has its id. */
export async function addActivity(sql: Sql, hour: Date, activities: readonly Activity[]): Promise<void> {
  await sql`
    insert into control.usage (workspace, schema, hour, requests, hook_runs, hook_cpu_ms)
    select workspace, schema, ${hour}, sum(requests), sum(hook_runs), sum(hook_cpu_ms)
    from jsonb_to_recordset(${jsonb(sql, activities)})
      as row (workspace text, database text, schema text, requests bigint, hook_runs bigint, hook_cpu_ms bigint)
    -- Held, so that none goes meanwhile.
    where exists (
      select from control.workspaces w where w.id = row.workspace and w.database = row.database for key share)
    group by workspace, schema
    -- In one order, so that two processes never wait for each other.
    order by workspace collate "C", schema collate "C"
    on conflict (workspace, schema, hour) do update
    set requests = usage.requests + excluded.requests, hook_runs = usage.hook_runs + excluded.hook_runs,
      hook_cpu_ms = usage.hook_cpu_ms + excluded.hook_cpu_ms`;
}

/** The use of a workspace, or of its app with this schema, in the hours after `since`. */
export async function sumActivity(
  sql: Sql,
  { workspace, schema, since }: { workspace: string; schema?: string; since: Date },
): Promise<Pick<Activity, 'requests' | 'hook_runs' | 'hook_cpu_ms'>> {
  const [row] = await sql<Activity[]>`
    select coalesce(sum(requests), 0)::float8 as requests, coalesce(sum(hook_runs), 0)::float8 as hook_runs,
      coalesce(sum(hook_cpu_ms), 0)::float8 as hook_cpu_ms from control.usage
    where workspace = ${workspace} and schema = coalesce(${schema ?? null}, schema) and hour > ${since}`;
  return row ?? { requests: 0, hook_runs: 0, hook_cpu_ms: 0 };
}

/** Counts a mail that a workspace has sent. */
export async function addMail(sql: Sql, workspace: string, now: Date): Promise<void> {
  await sql`
    insert into control.usage (workspace, schema, hour, requests, hook_runs, mails)
    select id, '', date_trunc('hour', ${now}::timestamptz, 'UTC'), 0, 0, 1
    from control.workspaces where id = ${workspace} for key share
    on conflict (workspace, schema, hour) do update set mails = usage.mails + excluded.mails`;
}

/** The mails that a workspace sent in the hours after `since`. */
export async function sumMails(
  sql: Sql,
  { workspace, since }: { workspace: string; since: Date },
): Promise<number> {
  const [row] = await sql<{ mails: number }[]>`
    select coalesce(sum(mails), 0)::float8 as mails from control.usage
    where workspace = ${workspace} and hour > ${since}`;
  return row?.mails ?? 0;
}

/** Removes the use up to an hour. */
export async function deleteActivity(sql: Sql, until: Date): Promise<void> {
  await sql`delete from control.usage where hour <= ${until}`;
}
