// Directories that a user may not pass.
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findClosedDirectory } from '../../supervisor/closed-directory.ts';
import { makeTestCluster, type TestCluster } from '../harness/cluster.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await makeTestCluster();
});
afterEach(() => cluster.remove());

describe('a directory', () => {
  it('is closed when the account’s own class of permissions lacks the search bit', async () => {
    const inner = join(cluster.dir, 'inner');
    await mkdir(inner, { mode: 0o711 });
    const path = join(inner, 'data');
    const stranger = { uid: 4_000_000, gid: 4_000_000 };
    expect(await findClosedDirectory(stranger, [path])).toBeUndefined();
    await chmod(cluster.dir, 0o710);
    expect(await findClosedDirectory(stranger, [path])).toBe(cluster.dir);
    const { gid } = await stat(cluster.dir);
    expect(await findClosedDirectory({ ...stranger, gid }, [path])).toBeUndefined();
    await chmod(cluster.dir, 0o701);
    expect(await findClosedDirectory({ ...stranger, gid }, [path])).toBe(cluster.dir);
  });
});
