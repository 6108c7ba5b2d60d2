// Blobs in a directory.
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LocalBlobs } from '../../../storage/blobs/local.ts';
import { blobStoreContract } from './blob-store.contract.ts';

blobStoreContract('local', async (giveWay) => {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  return { store: new LocalBlobs(root, giveWay), stop: () => rm(root, { recursive: true }) };
});

it('file.key-safety: a local blob has the id of its file as its name, and is for the server’s own user', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  const key = {
    database: `w_${'0'.repeat(20)}`,
    schema: `a_${'1'.repeat(20)}`,
    id: '01890000-0000-7000-8000-000000000000',
  };
  await new LocalBlobs(join(root, 'blobs')).put(
    key,
    (async function* () {
      yield Buffer.from('x');
    })(),
  );
  const directory = join(root, 'blobs', key.database, key.schema);
  expect(await readdir(directory)).toEqual([key.id]);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, key.id))).mode & 0o777).toBe(0o600);
  await rm(root, { recursive: true });
});

it('lets go of the memory of what it has stored, and of no memory that is shared', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  const key = {
    database: `w_${'0'.repeat(20)}`,
    schema: `a_${'1'.repeat(20)}`,
    id: '01890000-0000-7000-8000-000000000001',
  };
  const own = Buffer.alloc(100_000, 'a');
  const shared = Buffer.alloc(100_000, 'b').subarray(1);
  const lengths: number[] = [];
  await new LocalBlobs(root).put(
    key,
    (async function* () {
      yield own;
      lengths.push(own.length);
      yield shared;
      lengths.push(shared.length);
    })(),
  );
  expect(lengths).toEqual([0, 99_999]);
  const stored = await readFile(join(root, key.database, key.schema, key.id), 'latin1');
  expect(stored === 'a'.repeat(100_000) + 'b'.repeat(99_999)).toBe(true);
  await rm(root, { recursive: true });
});

it('waits for little of what another workspace stores, however much that is', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  const begin = Promise.withResolvers<void>();
  const store = new LocalBlobs(root, () => begin.promise);
  const stored: string[] = [];
  const put = async (workspace: string, number: number) => {
    const database = `w_${workspace.repeat(20)}`;
    const id = `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;
    await store.put({ database, schema: `a_${'1'.repeat(20)}`, id }, Readable.from([Buffer.from('x')]));
    stored.push(workspace);
  };
  const all = Array.from({ length: 100 }, (_, number) => put('0', number));
  // By then all of them wait, in whatever order their files were opened.
  await vi.waitFor(async () => {
    expect(await readdir(join(root, `w_${'0'.repeat(20)}`, `a_${'1'.repeat(20)}`))).toHaveLength(100);
  });
  const other = put('2', 100);
  await vi.waitFor(() => readdir(join(root, `w_${'2'.repeat(20)}`, `a_${'1'.repeat(20)}`)));
  begin.resolve();
  await other;
  expect(stored.length).toBeLessThan(50);
  await Promise.all(all);
  await rm(root, { recursive: true });
});

describe('a blob in a directory', () => {
  const key = {
    database: `w_${'0'.repeat(20)}`,
    schema: `a_${'1'.repeat(20)}`,
    id: '01890000-0000-7000-8000-000000000002',
  };
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'bulkhead-blobs-'));
  });
  afterEach(() => rm(root, { recursive: true }));
  const names = () => readdir(join(root, key.database, key.schema));

  it('has its bytes, and then its name, on the disk before it is said to be stored', async () => {
    const handle = await open(root);
    const found: string[][] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
    sync.mockImplementation(async () => found.push(await names()));
    try {
      await new LocalBlobs(root).put(key, Readable.from([Buffer.from('x')]));
      expect(found).toEqual([[`${key.id}.part`], [key.id]]);
    } finally {
      sync.mockRestore();
      await handle.close();
    }
  });

  it('is brought to the disk in pieces while it comes, so that no one sync takes long', async () => {
    const handle = await open(root);
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
    try {
      const quarters = Array.from({ length: 9 }, () => Buffer.alloc(256 * 1024));
      await new LocalBlobs(root).put(key, Readable.from(quarters));
      expect(sync).toHaveBeenCalledTimes(4);
    } finally {
      sync.mockRestore();
      await handle.close();
    }
  });

  it('is the only thing that is listed or swept of what lies there', async () => {
    const store = new LocalBlobs(root);
    await store.put(key, Readable.from([Buffer.from('x')]));
    const folder = join(root, key.database, key.schema);
    await mkdir(join(root, key.database, 'lost+found'));
    await writeFile(join(folder, 'README'), 'x');
    // As one that is removed between the listing and its stat.
    await symlink('nowhere', join(folder, '01890000-0000-7000-8000-000000000003'));
    expect(await Array.fromAsync(store.apps(key.database))).toEqual([key.schema]);
    const listed = await Array.fromAsync(store.list(key, new Date(Date.now() + 3_600_000)));
    expect(listed.map(({ id }) => id)).toEqual([key.id]);
    expect(await names()).toContain('README');
  });

  it('leaves nothing when it breaks off', async () => {
    const bytes = (async function* () {
      yield Buffer.from('x');
      throw new Error('cut off');
    })();
    await expect(new LocalBlobs(root).put(key, bytes)).rejects.toThrow('cut off');
    expect(await names()).toEqual([]);
  });

  it('file.key-safety: is in a place of ours', async () => {
    const elsewhere = { ...key, database: '..', schema: '..' };
    await expect(new LocalBlobs(root).open(elsewhere)).rejects.toThrow(RangeError);
    for (const database of ['..', `${key.database}/..`, `${key.database}0`, `x/${key.database}`]) {
      await expect(new LocalBlobs(root).removeAll({ database })).rejects.toThrow(RangeError);
    }
  });
});
