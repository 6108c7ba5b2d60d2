// What a tenant's statements may take of the server: settings of its database.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';

/** The limits that policies may tighten. */
export interface DatabaseLimits {
  /** Memory of a sort or a hash. */
  work_mem_mb: number;
  /** Temporary files of a session. */
  temp_file_mb: number;
  statement_timeout_ms: number;
}

/** The limits while no policy is set. */
export const defaultDatabaseLimits: DatabaseLimits = {
  work_mem_mb: 4,
  temp_file_mb: 512,
  statement_timeout_ms: 5_000,
};

/** Guards against our own bugs: a role may change them in its session, but no statement of ours does. */
const fixedSettings = {
  idle_in_transaction_session_timeout: '10s',
  lock_timeout: '2s',
  transaction_timeout: '15s',
  search_path: '',
};

const mayLimitTempFiles = `pg_catalog.has_parameter_privilege(current_user, 'temp_file_limit', 'SET')`;

function settingsOf({ work_mem_mb, temp_file_mb, statement_timeout_ms }: DatabaseLimits) {
  return {
    work_mem: `${work_mem_mb}MB`,
    temp_file_limit: `${temp_file_mb}MB`,
    statement_timeout: `${statement_timeout_ms}ms`,
  };
}

/**
 * SQL that bounds what the roles of a tenant may take in their database. The database has the settings, not each role: each
 * command about a role takes longer the more roles there are. The provisioner's connections lift them.
 */
export function limitDatabaseText(database: string, limits = defaultDatabaseLimits): string {
  const { temp_file_limit, ...settings } = settingsOf(limits);
  const alter = (setting: string, value: string) =>
    `alter database ${quoteIdentifier(database)} set ${setting} to ${quoteLiteral(value)}`;
  const texts = Object.entries({ ...fixedSettings, ...settings }).map(([name, value]) => alter(name, value));
  return `${texts.join(';\n')};
    do $do$ begin if ${mayLimitTempFiles} then execute ${
    quoteLiteral(alter('temp_file_limit', temp_file_limit))
  };
    end if; end $do$;`;
}

/** Sets the limits of a database, if it has others. True when it had. In a transaction of the control database. */
export async function limitDatabase(sql: Sql, database: string, limits: DatabaseLimits): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bulkhead limits', 0))`;
  const [found] = await sql<{ settings: string[] }[]>`
    select coalesce(setconfig, '{}') as settings from pg_database
    left join pg_db_role_setting on setdatabase = pg_database.oid and setrole = 0
    where datname = ${database}`;
  const may = await mayLimit(sql);
  const isSet = ([name, value]: readonly [string, string]) =>
    found?.settings.includes(`${name}=${value}`) === true || (name === 'temp_file_limit' && !may);
  if (found === undefined || Object.entries(settingsOf(limits)).every(isSet)) return false;
  await sql.unsafe(limitDatabaseText(database, limits));
  return true;
}

async function mayLimit(sql: Sql): Promise<boolean> {
  const [row] = await sql.unsafe<{ may: boolean }[]>(`select ${mayLimitTempFiles} as may`);
  return row?.may === true;
}

/** False when tenants' statements may fill the disk with temporary files: the server has no bound, and we may set none. */
export async function limitsTempFiles(sql: Sql): Promise<boolean> {
  const [row] = await sql.unsafe<{ limited: boolean }[]>(
    `select ${mayLimitTempFiles} or current_setting('temp_file_limit') <> '-1' as limited`,
  );
  return row?.limited === true;
}

/** Bounds databases of earlier releases, where the roles had the settings. In a transaction of the control database. */
export async function limitTenantDatabases(sql: Sql): Promise<void> {
  const databases = await sql<{ name: string }[]>`
    select tenants.name from control.tenant_databases as tenants
    join pg_database on datname = tenants.name
    left join pg_db_role_setting on setdatabase = pg_database.oid and setrole = 0
    where not exists (select from unnest(setconfig) as setting where setting like 'work\\_mem=%')`;
  if (databases.length === 0) return;
  await sql.unsafe(databases.map(({ name }) => limitDatabaseText(name)).join('\n'));
}
