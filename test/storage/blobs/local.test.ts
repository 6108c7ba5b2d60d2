// Blobs in a directory.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
