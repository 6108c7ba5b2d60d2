// The data directory and its lock.
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DataDirInUse, openDataDir } from '../../supervisor/data-dir.ts';

let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'bulkhead-data-dir-'));
});
afterAll(() => rm(path, { recursive: true, force: true }));

// Who can read a file can hold a lock of the kernel's on it: a start would find the directory in use, for ever.
it.each(['made', 'found'])('the lock is closed to other users: %s', async (how) => {
  const lock = join(path, 'lock');
  if (how === 'found') {
    await writeFile(lock, '');
    await chmod(lock, 0o666);
  }
  const { release } = await openDataDir(path, process.getuid?.() ?? 0);
  try {
    expect((await stat(lock)).mode & 0o777).toBe(0o600);
  } finally {
    release();
  }
  await rm(lock);
});

it('is ignored by git when it is made, and left as it is when it was there', async () => {
  const made = join(path, 'made');
  (await openDataDir(made, process.getuid?.() ?? 0)).release();
  expect(await readFile(join(made, '.gitignore'), 'utf8')).toBe('*\n');
  await rm(join(made, '.gitignore'));
  (await openDataDir(made, process.getuid?.() ?? 0)).release();
  expect(await readdir(made)).not.toContain('.gitignore');
});

it('is for one server at a time, which the next is told of', async () => {
  const uid = process.getuid?.() ?? 0;
  const { release } = await openDataDir(path, uid);
  await expect(openDataDir(path, uid)).rejects.toThrow(DataDirInUse);
  await expect(openDataDir(path, uid)).rejects.toThrow(`in use by another bulkhead (pid ${process.pid})`);
  release();
  (await openDataDir(path, uid)).release();
});

it('is not for a user that it does not belong to', async () => {
  const { uid } = await stat(path);
  await expect(openDataDir(path, uid + 1)).rejects.toThrow(`belongs to another user (uid ${uid})`);
});
