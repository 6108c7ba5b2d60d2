// Opens the storage: checks the server, migrates every schema, prepares template and spares.
import type { BlobStore } from '../blobs/blob-store.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';
import { Databases, ownConnections } from '../connections/databases.ts';
import { migrateFleet, refuseNewerFleet } from './fleet.ts';
import { checkMasterKey } from './key-check.ts';
import { migrate, type Migrations, readMigrations } from './migrate.ts';
import { unlimitedPermits } from '../connections/permits.ts';
import { type Endpoint, Pool } from '../connections/pool.ts';
import { ownSchema, type Provisioning } from '../provision/cluster.ts';
import { ensureTemplate } from '../provision/template.ts';
import { checkServer } from './requirements.ts';
import { limitTenantDatabases } from '../provision/database-limits.ts';
import { clusterNames, ensureGroupRoles, limitTenantConnections } from '../provision/roles.ts';
import { findWorkspaceId } from '../control/workspaces.ts';
import { ensureMasterAdmin } from '../control/master-admins.ts';
import { Secrets } from '../secrets.ts';
import { StartRefused } from './start-refused.ts';
import { Upkeep } from '../provision/upkeep.ts';

/** Options of one API process's storage. */
export interface StorageOptions {
  /** The provisioner. Its `database` is the control database. */
  access: Endpoint;
  /** 32 bytes. */
  masterKey: Buffer;
  workspacePoolCap: number;
  appPoolCap: number;
  /** The number of API processes that share the server, and the index of this one; worker 0 migrates. */
  workers: number;
  worker: number;
  /** Workspace databases that are kept ready. */
  spares: number;
  now: () => Date;
  /** A new v7 UUID. */
  newId: () => string;
  /** Called with the number of migrated databases, and of all that lacked a migration. */
  report: (done: number, total: number) => void;
  /** The blob store, from which the files of deleted workspaces are removed. */
  blobs: BlobStore;
  onReaped: (database: string) => void;
  /** Called when a share of a workspace is used up, undefined where it is deleted meanwhile. */
  onShareSpent?: (share: string, workspace: string | undefined) => void;
  /** Called with errors of the background work, which is tried again. */
  onFailure: (error: unknown) => void;
  /** Other migrations than the program's own, for tests. */
  migrations?: Migrations;
}

/** The storage of one API process. */
export interface Storage {
  databases: Databases;
  secrets: Secrets;
  provisioning: Provisioning;
  upkeep: Upkeep;
  /** Finishes the current step and closes every connection. */
  close(): Promise<void>;
}

const roleConnectionsAtLeast = 16;
/** Left to operators (psql, backups), and for the moment when a killed API's connections are still open. */
const sparedConnections = 4;

/**
 * Resolves when requests may come. Spares are filled and leftovers reaped afterwards. Throws `StartRefused` for what
 * the operator must change, `StorageError` for what may pass.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { access, workers } = options;
  const migrations = options.migrations ?? await readMigrations();
  const secrets = new Secrets(options.masterKey);
  const connections = await countConnections(options);
  const databases = new Databases({
    provisioner: access,
    passwordOf: (role) => secrets.derivePassword(role),
    workspacePoolCap: options.workspacePoolCap,
    appPoolCap: options.appPoolCap,
    tenantConnections: tenantConnections(connections, workers),
    now: () => options.now().getTime(),
    onSlow: (database) => {
      databases.control.run((sql) => findWorkspaceId(sql, database))
        .then((workspace) => options.onShareSpent?.('slow statements', workspace))
        .catch(options.onFailure);
    },
  });
  const cap = Math.max(options.workspacePoolCap, options.appPoolCap);
  const provisioning: Provisioning = {
    databases,
    secrets,
    migrations,
    names: clusterNames(access.database),
    copying: new FairQueue({ slots: 1 }),
    // Twice, because a killed process's connections may linger when the next one opens its own.
    roleConnections: Math.max(roleConnectionsAtLeast, 2 * cap * workers),
  };
  try {
    await prepare(provisioning, options);
  } catch (error) {
    await databases.end();
    throw error;
  }
  const { spares, blobs, onReaped, onFailure } = options;
  const removeBlobs = (database: string) => blobs.removeAll({ database });
  const upkeep = new Upkeep({ provisioning, spares, removeBlobs, onReaped, onFailure });
  upkeep.poke();
  const close = async () => {
    await upkeep.stop();
    await databases.end();
  };
  return { databases, secrets, provisioning, upkeep, close };
}

/** Brings everything up to date, which worker 0 does. The other workers start after it and only check. */
async function prepare(provisioning: Provisioning, options: StorageOptions): Promise<void> {
  const { databases, migrations, names, secrets } = provisioning;
  await databases.control.transaction((sql) => ensureGroupRoles(sql, names.groups));
  await migrate(databases.control, ownSchema(provisioning, 'control'));
  await databases.control.transaction((sql) => checkMasterKey(sql, secrets));
  await refuseNewerFleet(databases, migrations);
  if (options.worker !== 0) return;
  await databases.control.transaction((sql) =>
    ensureMasterAdmin(sql, { id: options.newId(), now: options.now() })
  );
  await ensureTemplate(provisioning);
  await databases.control.transaction((sql) =>
    limitTenantConnections(sql, names.groups, provisioning.roleConnections)
  );
  await databases.control.transaction(limitTenantDatabases);
  await migrateFleet(provisioning, options.report);
}

async function countConnections({ access, now }: StorageOptions): Promise<number> {
  const pool = new Pool(access, { cap: 1, permits: unlimitedPermits, now: () => now().getTime() });
  try {
    return await checkServer(pool);
  } finally {
    await pool.end();
  }
}

/** This process's share of the server's connections. */
function tenantConnections(connections: number, workers: number): number {
  const share = Math.floor((connections - sparedConnections) / workers) - ownConnections;
  if (share >= 1) return share;
  throw new StartRefused(`max_connections of the database server is too small for ${workers} API processes`);
}
