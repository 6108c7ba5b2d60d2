// Finishes what a crash or a deletion left: incomplete databases, and databases to be dropped.
import type { Databases } from '../connections/databases.ts';
import { tryLockDatabase } from './cluster.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { inheritRoleText } from './roles.ts';
import { claimUnfinished, listUnfinished, removeDatabase } from '../control/tenant-databases.ts';

/** Options of the reaper. */
export interface ReapOptions {
  databases: Databases;
  /** Removes the blobs of a database's workspace; may be called again. */
  removeBlobs: (database: string) => Promise<void>;
  /** Called with the name of each database that was dropped. */
  onReaped: (database: string) => void;
}

/**
 * Drops every unfinished database with its roles. Idempotent: each step checks what is still there, and the row goes
 * last. A database that another session is making or dropping is skipped, and one that cannot be dropped does not stop
 * the others. Throws the error, or an `AggregateError` of several.
 */
export async function reap({ databases, removeBlobs, onReaped }: ReapOptions): Promise<void> {
  const failures: unknown[] = [];
  for (const { name } of await databases.control.run(listUnfinished)) {
    try {
      if (await reapOne(databases, name, removeBlobs)) onReaped(name);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 1) {
    throw new AggregateError(failures, `${failures.length} databases could not be dropped`);
  }
  if (failures.length === 1) throw failures[0];
}

/** Drops one database; false when another session has it. */
async function reapOne(
  databases: Databases,
  name: string,
  removeBlobs: ReapOptions['removeBlobs'],
): Promise<boolean> {
  return await databases.onOwnConnection(async (sql) => {
    if (!await tryLockDatabase(sql, name) || !await claimUnfinished(sql, name)) return false;
    await databases.closePools(name);
    await dropDatabase(sql, name);
    await removeBlobs(name);
    await removeDatabase(sql, name);
    return true;
  });
}

/**
 * The connection limit of a database that PostgreSQL was dropping when it was killed. It refuses connections, and an
 * ALTER ends its session. https://www.postgresql.org/docs/18/catalog-pg-database.html
 */
const cutOff = -2;

async function dropDatabase(sql: Sql, name: string): Promise<void> {
  const roles = await tenantRoles(sql, name);
  const database = quoteIdentifier(name);
  const [found] = await sql<{ cut_off: boolean }[]>`
    select datconnlimit = ${cutOff} as cut_off from pg_database where datname = ${name}`;
  if (found !== undefined) {
    if (roles.length > 0) await sql.unsafe(roles.map((role) => inheritRoleText(role)).join('\n'));
    if (!found.cut_off) await sql.unsafe(`alter database ${database} allow_connections false`);
    await sql.unsafe(`drop database if exists ${database} with (force)`);
  }
  if (roles.length > 0) await sql.unsafe(`drop role ${roles.map(quoteIdentifier).join(', ')}`);
}

/** The workspace's role and the roles of its apps, which are its members. The provisioner is one too and is left out. */
async function tenantRoles(sql: Sql, workspaceRole: string): Promise<string[]> {
  const rows = await sql<{ rolname: string }[]>`
    select rolname from pg_roles where rolname = ${workspaceRole}
    union
    select member.rolname from pg_auth_members
    join pg_roles as granted on granted.oid = pg_auth_members.roleid
    join pg_roles as member on member.oid = pg_auth_members.member
    where granted.rolname = ${workspaceRole} and member.rolname <> current_user`;
  return rows.map(({ rolname }) => rolname);
}
