// The requirements on a PostgreSQL server and its role, checked before anything is changed.
import { errorCode } from '../sql/error-code.ts';
import type { Connection, Sql } from '../connections/pool.ts';
import { StorageError } from '../errors.ts';
import { StartRefused } from './start-refused.ts';

interface ServerFacts {
  /** `server_version_num`. */
  version: number;
  /** The connections that roles without special rights may hold together. */
  connections: number;
  role: string;
  database: string;
  superuser: boolean;
  createdb: boolean;
  createrole: boolean;
  create: boolean;
  encoding: string;
  standby: boolean;
  /** The process that serves the connection. */
  process: number;
}

/** PostgreSQL 17 has the built-in collation pg_c_utf8, by which filters ignore case; 16 has INHERIT and SET of a grant. */
const oldestVersion = 170_000;
/** Leaves room for `_workspace` within the 63 bytes of a name. */
const maxControlNameBytes = 50;

/**
 * Returns the number of connections that roles without special rights may hold together. Throws `StartRefused` naming
 * everything that is missing, and `StorageError` when the server does not respond.
 */
export async function checkServer(connection: Connection): Promise<number> {
  const facts = await readOrRefuse(connection);
  const missing = unmetRequirements(facts);
  if (missing.length > 0) throw new StartRefused(`the database server cannot be used: ${missing.join('; ')}`);
  return facts.connections;
}

async function readOrRefuse(connection: Connection): ReturnType<typeof readFacts> {
  try {
    return await connection.run(readFacts);
  } catch (error) {
    // A wrong password, role or database stays wrong however often it is tried.
    const cause = error instanceof StorageError ? error.cause : undefined;
    if (cause instanceof Error && ['28000', '28P01', '3D000'].includes(errorCode(cause))) {
      throw new StartRefused(`the database server refuses the connection: ${cause.message}`);
    }
    throw error;
  }
}

async function readFacts(sql: Sql): Promise<ServerFacts & { isDirect: boolean }> {
  const rows = await sql<ServerFacts[]>`
    select current_setting('server_version_num')::int as version,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) as connections,
      current_user::text as role, current_database()::text as database,
      rolsuper as superuser, rolcreatedb as createdb, rolcreaterole as createrole,
      has_database_privilege(current_database(), 'CREATE') as create,
      current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
      pg_backend_pid() as process
    from pg_roles where rolname = current_user`;
  const [row] = rows;
  if (row === undefined) throw new StorageError('unavailable', 'the server did not say who we are');
  // A pooler sends its own process number: https://www.postgresql.org/docs/18/protocol-flow.html, BackendKeyData
  return { ...row, isDirect: rows.state.pid === row.process };
}

function unmetRequirements(facts: Awaited<ReturnType<typeof readFacts>>): string[] {
  const { role, database } = facts;
  const checks: readonly (readonly [boolean, string])[] = [
    [
      facts.isDirect,
      'a connection pooler responds in its place, and Bulkhead needs connections of its own (it has pools itself)',
    ],
    [facts.version >= oldestVersion, 'PostgreSQL 17 or newer is needed'],
    [!facts.standby, 'it is a read-only standby'],
    [
      facts.encoding === 'UTF8',
      `database "${database}" must have the encoding UTF8, not ${facts.encoding}`,
    ],
    [
      Buffer.byteLength(database) <= maxControlNameBytes,
      `the database's name must have at most ${maxControlNameBytes} bytes`,
    ],
    [!facts.superuser, `role "${role}" is a superuser, and must not be: ALTER ROLE "${role}" NOSUPERUSER`],
    [facts.createdb, `role "${role}" lacks CREATEDB: ALTER ROLE "${role}" CREATEDB`],
    [facts.createrole, `role "${role}" lacks CREATEROLE: ALTER ROLE "${role}" CREATEROLE`],
    [
      facts.create,
      `role "${role}" may not create schemas in "${database}": GRANT CREATE ON DATABASE "${database}" TO "${role}"`,
    ],
  ];
  return checks.filter(([met]) => !met).map(([, words]) => words);
}
