// The embedded PostgreSQL has connections for as many API processes as there may be.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LocalBlobs } from '../../../storage/blobs/local.ts';
import { openStorage } from '../../../storage/boot/boot.ts';
import { uuidV7Source } from '../../../storage/sql/ids.ts';
import { makeTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await makeTestCluster();
});
afterEach(() => cluster.remove());

it.each([1, 13, 64])('of %i processes, each has some for tenants', async (workers) => {
  const postgres = await cluster.prepare({ apiProcesses: workers });
  await postgres.start();
  const opening = openStorage({
    access: postgres.access,
    masterKey: randomBytes(32),
    workspacePoolCap: 4,
    appPoolCap: 4,
    workers,
    worker: 0,
    spares: 0,
    now: () => new Date(),
    newId: uuidV7Source(Date.now),
    report: () => {},
    blobs: new LocalBlobs(join(cluster.dir, 'blobs')),
    onReaped: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  await expect(opening.then((storage) => storage.close())).resolves.toBeUndefined();
});
