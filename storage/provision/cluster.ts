// The context in which databases, schemas and roles are made and dropped, and the lock between maker and reaper.
import { randomBytes } from 'node:crypto';
import type { FairQueue } from '../concurrency/fair-queue.ts';
import type { Databases } from '../connections/databases.ts';
import { latestVersion, type MigratedSchema, type Migrations } from '../boot/migrate.ts';
import type { Sql } from '../connections/pool.ts';
import type { ClusterNames, TenantRole } from './roles.ts';
import { iterationsForDerived, scramVerifier } from './scram.ts';
import type { Secrets } from '../secrets.ts';
import type { TenantVersions } from '../control/tenant-databases.ts';

/** The context in which databases, schemas and roles are made and dropped. */
export interface Provisioning {
  databases: Databases;
  secrets: Secrets;
  names: ClusterNames;
  migrations: Migrations;
  /** One at a time: each has a connection of its own, of which there are few. */
  copying: FairQueue;
  /** CONNECTION LIMIT of a tenant role. */
  roleConnections: number;
}

/** The schema `control` or `workspace` with its migrations. For an app's there is `appSchema`. */
export function ownSchema(
  { migrations, names }: Pick<Provisioning, 'migrations' | 'names'>,
  schema: 'control' | 'workspace',
): MigratedSchema {
  return { schema, table: 'migrations', migrations: migrations[schema], groups: names.groups };
}

/** The versions that this program's migrations lead to. */
export function currentVersions(migrations: Migrations): TenantVersions {
  return { workspace: latestVersion(migrations.workspace), app: latestVersion(migrations.app) };
}

/** A login role of this installation. Its password is derived from the master key. */
export function tenantRole(
  provisioning: Provisioning,
  name: string,
  { database, group }: { database: string; group: string },
): TenantRole {
  const password = provisioning.secrets.derivePassword(name);
  const verifier = scramVerifier(password, randomBytes(16), iterationsForDerived);
  return { name, database, verifier, group, connectionLimit: provisioning.roleConnections };
}

/** Waits for the session-level lock of a database that is being made or dropped. */
export async function lockDatabase(sql: Sql, name: string): Promise<void> {
  await sql`select pg_advisory_lock(hashtextextended(${`database ${name}`}, 0))`;
}

/** Takes the same lock; false when another session has it. */
export async function tryLockDatabase(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_lock(hashtextextended(${`database ${name}`}, 0)) as locked`;
  return row?.locked === true;
}
