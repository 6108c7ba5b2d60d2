// How much an app or a workspace holds, and how much they were used (control.usage).
import type { Sql } from './pool.ts';
import { quoteIdentifier } from './quote.ts';
import { qualified } from './tables.ts';

/** A number of records. */
export interface RecordCount {
  records: number;
  /** False where a collection was so large that the statistics of PostgreSQL were asked instead. */
  exact: boolean;
}

/** What an app takes up, in bytes. */
export interface AppSize {
  /** Tables and indexes, with room that deleted records left in them. */
  database_bytes: number;
  files: number;
  file_bytes: number;
}

/** What happened in an app since it was last told. */
export interface Activity {
  workspace: string;
  app: string;
  requests: number;
  hook_runs: number;
}

/** Above this, counting the records of a collection takes long, and its statistics are within a few per cent. */
const mostCounted = 5_000_000;

/** Records of these collections. `sql` has the app's role. Throws `StorageError`. */
export async function countRecordsOf(
  sql: Sql,
  schema: string,
  collections: readonly string[],
): Promise<RecordCount> {
  if (collections.length === 0) return { records: 0, exact: true };
  const estimates = await sql<{ name: string; rows: number }[]>`
    select c.relname::text as name, c.reltuples::float8 as rows
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'r' and c.reltuples > ${mostCounted}`;
  const large = new Map(estimates.map(({ name, rows }) => [name, rows]));
  const sum = collections.reduce((total, name) => total + (large.get(name) ?? 0), 0);
  const counted = collections.filter((name) => !large.has(name));
  if (counted.length === 0) return { records: sum, exact: false };
  const counts = counted.map((collection) => `(select count(*) from ${qualified({ schema, collection })})`);
  const [row] = await sql.unsafe<{ records: number }[]>(
    `select (${counts.join(' + ')})::float8 as records`,
  );
  return { records: sum + (row?.records ?? 0), exact: large.size === 0 };
}

/** What the schema of an app takes up, and its files. `sql` has the app's role. Throws `StorageError`. */
export async function sizeOfApp(sql: Sql, schema: string): Promise<AppSize> {
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

/** Bytes of the database that `sql` is connected to. Throws `StorageError`. */
export async function sizeOfDatabase(sql: Sql): Promise<number> {
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
 * The same while nobody else makes users who asks this too: until the transaction ends, they wait. So a bound on their
 * number holds whatever the number of processes.
 */
export async function countUsersAlone(sql: Sql): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('users', 0))`;
  return await countUsers(sql);
}

/** Adds to what happened in an hour, which begins at `hour`. What belongs to a workspace that is gone is dropped. */
export async function addActivity(sql: Sql, hour: Date, activities: readonly Activity[]): Promise<void> {
  await sql`
    insert into control.usage (workspace, app, hour, requests, hook_runs)
    select workspace, app, ${hour}, sum(requests), sum(hook_runs)
    from jsonb_to_recordset(${sql.typed([...activities], jsonbOid)})
      as row (workspace text, app text, requests bigint, hook_runs bigint)
    where exists (select from control.workspaces w where w.id = row.workspace)
    group by workspace, app
    -- In one order, so that two processes never wait for each other.
    order by workspace collate "C", app collate "C"
    on conflict (workspace, app, hour) do update
    set requests = usage.requests + excluded.requests, hook_runs = usage.hook_runs + excluded.hook_runs`;
}

/** What happened in a workspace, or an app of it, in the hours after `since`. */
export async function activityOf(
  sql: Sql,
  { workspace, app, since }: { workspace: string; app: string | undefined; since: Date },
): Promise<Pick<Activity, 'requests' | 'hook_runs'>> {
  const [row] = await sql<Activity[]>`
    select coalesce(sum(requests), 0)::float8 as requests, coalesce(sum(hook_runs), 0)::float8 as hook_runs
    from control.usage
    where workspace = ${workspace} and (${app ?? null}::text is null or app = ${
    app ?? null
  }) and hour > ${since}`;
  return { requests: row?.requests ?? 0, hook_runs: row?.hook_runs ?? 0 };
}

/** Removes what happened up to an hour. */
export async function forgetActivity(sql: Sql, until: Date): Promise<void> {
  await sql`delete from control.usage where hour <= ${until}`;
}

/** Removes what happened in an app, so that a later one of its id begins with nothing. */
export async function forgetActivityOfApp(sql: Sql, workspace: string, app: string): Promise<void> {
  await sql`delete from control.usage where workspace = ${workspace} and app = ${app}`;
}

const jsonbOid = 3802;
