// PostgreSQL for storage tests: a cluster beside the shared server's, with a control database for each test file.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { LocalBlobs } from '../../storage/blobs/local.ts';
import { openStorage, type Storage, type StorageOptions } from '../../storage/boot/boot.ts';
import { Databases } from '../../storage/connections/databases.ts';
import { uuidV7Source } from '../../storage/sql/ids.ts';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { type Endpoint, Pool, type Sql } from '../../storage/connections/pool.ts';
import { reap } from '../../storage/provision/reaper.ts';
import { clusterNames } from '../../storage/provision/roles.ts';
import { decodeMasterKey, derivePassword } from '../../supervisor/master-key.ts';
import { socketPort } from '../../supervisor/postgres/socket.ts';

/** The provisioner of the shared server's cluster, which has the real `pg_hba.conf`. */
export function provisionerEndpoint(database = 'bulkhead'): Endpoint {
  return endpointOf(inject('server').dataDir, database);
}

/** The provisioner of the cluster that storage tests share among themselves, made and walled in the same way. */
export function clusterEndpoint(database = 'bulkhead'): Endpoint {
  return endpointOf(inject('storage').dataDir, database);
}

/** The master key that a server has made for itself. */
export function masterKeyOf(dataDir: string): Buffer {
  const masterKey = decodeMasterKey(readFileSync(join(dataDir, 'master.key'), 'utf8').trim());
  if (masterKey === undefined) throw new Error('the server has no master key');
  return masterKey;
}

/** The provisioner of the server with this data directory. */
export function endpointOf(dataDir: string, database: string): Endpoint {
  const password = derivePassword(masterKeyOf(dataDir), 'bulkhead');
  const host = join(dataDir, 'run');
  return { host, port: socketPort, ssl: 'disable', database, username: 'bulkhead', password };
}

/** Name of the database of a workspace of the shared server. */
export async function databaseOf(workspace: string): Promise<string> {
  const [row] = await once(
    provisionerEndpoint(),
    (sql) => sql<{ database: string }[]>`select database from control.workspaces where id = ${workspace}`,
  );
  if (row === undefined) throw new Error('the workspace is not there');
  return row.database;
}

/** The provisioner in that database, on one connection, which is to be ended. */
export async function openDatabaseOf(workspace: string): Promise<Pool> {
  const endpoint = provisionerEndpoint(await databaseOf(workspace));
  return new Pool(endpoint, { cap: 1, permits: unlimitedPermits, now: Date.now });
}

/** A control database, template and roles of a test file's own. */
export interface OwnInstallation {
  access: Endpoint;
  masterKey: Buffer;
  /** Opens the storage; closed by `remove` when the test does not. No spares unless asked for. */
  open(options?: Partial<StorageOptions>): Promise<Storage>;
  /** Runs statements on one connection, in whatever database and role, then closes it. */
  as<Result>(endpoint: Partial<Endpoint>, work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Drops all of it. */
  remove(): Promise<void>;
}

/** Makes an empty control database. */
export async function ownInstallation(): Promise<OwnInstallation> {
  const access = clusterEndpoint(`t_${randomBytes(6).toString('hex')}`);
  const masterKey = randomBytes(32);
  const opened: Storage[] = [];
  await onProvisioner((sql) => sql.unsafe(`create database ${access.database}`));
  const open = async (options: Partial<StorageOptions> = {}) => {
    const storage = await openStorage({ ...defaults(access, masterKey), ...options });
    opened.push(storage);
    return storage;
  };
  const remove = async () => {
    for (const storage of opened) await storage.close();
    await dropAll(access);
  };
  return { access, masterKey, open, as: (endpoint, work) => once({ ...access, ...endpoint }, work), remove };
}

function defaults(access: Endpoint, masterKey: Buffer): StorageOptions {
  return {
    access,
    masterKey,
    workspacePoolCap: 2,
    appPoolCap: 2,
    // Test files run side by side on one `max_connections`.
    workers: 4,
    worker: 0,
    spares: 0,
    now: () => new Date(),
    newId: uuidV7Source(Date.now),
    report: () => undefined,
    blobs: new LocalBlobs(join(tmpdir(), `bulkhead-no-blobs-${access.database}`)),
    onReaped: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  };
}

/** Drops the databases that are marked for it, as a server does behind the requests, and answers which; there are no blobs. */
export async function dropMarked(databases: Databases): Promise<string[]> {
  const dropped: string[] = [];
  await reap({
    databases,
    removeBlobs: () => Promise.resolve(),
    onReaped: (database) => dropped.push(database),
  });
  return dropped;
}

async function dropAll(access: Endpoint): Promise<void> {
  const names = clusterNames(access.database);
  const [known] = await once(access, (sql) => sql`select to_regclass('control.tenant_databases') as found`);
  if (known?.['found'] !== null) {
    await once(access, (sql) => sql`delete from control.workspaces`);
    await once(access, (sql) => sql`update control.tenant_databases set state = 'dropping'`);
    const options = {
      passwordOf: () => '',
      workspacePoolCap: 1,
      appPoolCap: 1,
      tenantConnections: 1,
      now: Date.now,
    };
    const databases = new Databases({ provisioner: access, ...options });
    await dropMarked(databases);
    await databases.end();
  }
  await onProvisioner(async (sql) => {
    await sql.unsafe(`drop database if exists ${names.template} with (force)`);
    await sql.unsafe(`drop database if exists ${access.database} with (force)`);
    await sql.unsafe(`drop role if exists ${Object.values(names.groups).join(', ')}`);
  });
}

async function onProvisioner(work: (sql: Sql) => Promise<unknown>): Promise<void> {
  await once(clusterEndpoint(), work);
}

async function once<Result>(endpoint: Endpoint, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const pool = new Pool(endpoint, { cap: 1, permits: unlimitedPermits, now: Date.now });
  try {
    return await pool.run(work);
  } finally {
    await pool.end();
  }
}
