// The embedded PostgreSQL's configuration, and the way to its directory.
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pgHbaConf, postgresqlConf } from '../../supervisor/postgres-config.ts';
import { closedDirectory } from '../../supervisor/postgres-user.ts';
import { makeTestCluster, type TestCluster } from '../harness/cluster.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await makeTestCluster();
});
afterEach(() => cluster.remove());

describe('the cluster’s configuration', () => {
  it('quotes paths', () => {
    const text = postgresqlConf({ data: "/it's", socket: '/back\\slash', config: '/c' }, 'linux');
    expect(text).toContain("data_directory = '/it''s'");
    expect(text).toContain("unix_socket_directories = '/back\\\\slash'");
  });

  it('ends with a rule that rejects everyone', () => {
    expect(pgHbaConf().trim().split('\n').slice(1)).toEqual([
      'local all      postgres reject',
      'local all      bulkhead scram-sha-256',
      'local samerole all      scram-sha-256',
      'local all      all      reject',
    ]);
  });
});

describe('a directory', () => {
  it('is closed when the account’s own class of permissions lacks the search bit', async () => {
    const inner = join(cluster.dir, 'inner');
    await mkdir(inner, { mode: 0o711 });
    const path = join(inner, 'data');
    const stranger = { uid: 4_000_000, gid: 4_000_000 };
    expect(await closedDirectory(stranger, [path])).toBeUndefined();
    await chmod(cluster.dir, 0o710);
    expect(await closedDirectory(stranger, [path])).toBe(cluster.dir);
    const { gid } = await stat(cluster.dir);
    expect(await closedDirectory({ ...stranger, gid }, [path])).toBeUndefined();
    await chmod(cluster.dir, 0o701);
    expect(await closedDirectory({ ...stranger, gid }, [path])).toBe(cluster.dir);
  });
});
