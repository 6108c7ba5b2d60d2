// Making a workspace's database: a clone of the migrated template and the one role that may connect to it.
import { randomBytes } from 'node:crypto';
import type { Databases } from './databases.ts';
import { StorageError } from './errors.ts';
import { opaqueName } from './ids.ts';
import { latestVersion, type Migrations } from './migrate.ts';
import type { Sql } from './pool.ts';
import { quoteIdentifier, quoteLiteral } from './quote.ts';
import { admitRoleText, type ClusterNames, createRoleText, type TenantRole } from './roles.ts';
import { iterationsForDerived, scramVerifier } from './scram.ts';
import type { Secrets } from './secrets.ts';
import { markSpare, type TenantVersions } from './tenant-databases.ts';

/** What making and dropping of databases, schemas and roles needs. */
export interface Provisioning {
  databases: Databases;
  secrets: Secrets;
  names: ClusterNames;
  migrations: Migrations;
  /** `server_version_num`. */
  serverVersion: number;
  /** CONNECTION LIMIT of a tenant role. */
  roleConnections: number;
}

/** The versions that this program makes. */
export function currentVersions(migrations: Migrations): TenantVersions {
  return { workspace: latestVersion(migrations.workspace), app: latestVersion(migrations.app) };
}

/** A login role of this installation; its password is derived from the master key. */
export function tenantRole(
  provisioning: Provisioning,
  name: string,
  { database, group }: { database: string; group: string },
): TenantRole {
  const password = provisioning.secrets.derivePassword(name);
  const verifier = scramVerifier(password, randomBytes(16), iterationsForDerived);
  return { name, database, verifier, group, connectionLimit: provisioning.roleConnections };
}

/**
 * Makes a complete workspace database and leaves it as a spare; answers its opaque name. Its row is committed first
 * and a session-level lock is held, so that the reaper removes what a crash leaves and nothing that is in the making.
 * Throws `StorageError`.
 */
export async function makeDatabase(provisioning: Provisioning): Promise<string> {
  const name = opaqueName('w_');
  const { databases, names } = provisioning;
  const role = tenantRole(provisioning, name, { database: name, group: names.groups.workspace });
  await databases.session(async (sql) => {
    await lockDatabase(sql, name);
    await sql.unsafe(beginText(role, currentVersions(provisioning.migrations)));
    await sql.unsafe(
      `create database ${quoteIdentifier(name)} template ${quoteIdentifier(names.template)}
       strategy wal_log allow_connections false`,
    );
    await sql.unsafe(
      `revoke all on database ${quoteIdentifier(name)} from public;
       ${admitRoleText(role, provisioning.serverVersion)}
       alter database ${quoteIdentifier(name)} allow_connections true;`,
    );
    // The first connection to a database writes its catalog cache file; whoever takes the spare need not wait for it.
    await databases.provisioner(name).warm();
    if (!await markSpare(sql, name)) throw new StorageError('unavailable', 'the new database was taken back');
  });
  return name;
}

/** Several statements sent as one run in one implicit transaction. */
function beginText(role: TenantRole, { workspace, app }: TenantVersions): string {
  return `insert into control.tenant_databases (name, state, version, app_version)
      values (${quoteLiteral(role.name)}, 'creating', ${workspace}, ${app});
    ${createRoleText(role)}`;
}

/** Waits for the session-level lock of a database that is being made or dropped. */
export async function lockDatabase(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_lock(hashtextextended(${`database ${name}`}, 0))`;
}

/** Takes the same lock, or says that somebody else has it. */
export async function tryLockDatabase(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_lock(hashtextextended(${`database ${name}`}, 0)) as locked`;
  return row?.locked === true;
}
