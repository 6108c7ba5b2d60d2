// Where PostgreSQL's socket goes when the data directory has no place for it, whatever the environment calls temporary.
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeSocketDirectory } from '../../../supervisor/postgres/socket.ts';

/** A user whom nobody is. */
const stranger = { uid: 64_321, gid: 64_321 };
const isRoot = process.getuid?.() === 0;

let home = '';
let dataDir = '';
beforeEach(async () => {
  home = await mkdtemp(join(await realpath(tmpdir()), 'bulkhead-socket-'));
  dataDir = join(home, 'a,comma');
  await mkdir(dataDir);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

it('is in the temporary directory, closed to others, and gone in the end', async () => {
  vi.stubEnv('TMPDIR', home);
  const { path, remove } = await makeSocketDirectory(dataDir, undefined);
  expect(dirname(path)).toBe(home);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await remove();
  expect(await readdir(home)).toEqual(['a,comma']);
});

it.for([
  { why: 'is not there', name: 'missing' },
  { why: 'has a comma', name: 'a,comma' },
  { why: 'is too long', name: 'l'.repeat(90) },
])('passes over a TMPDIR that $why', async ({ name }) => {
  if (name !== 'missing') await mkdir(join(home, name), { recursive: true });
  vi.stubEnv('TMPDIR', join(home, name));
  const { path, remove } = await makeSocketDirectory(dataDir, undefined);
  expect(dirname(path)).toBe(await realpath('/tmp'));
  await remove();
});

it.runIf(isRoot)('passes over a TMPDIR that PostgreSQL’s user may not pass', async () => {
  await chmod(home, 0o700);
  vi.stubEnv('TMPDIR', home);
  const { path, remove } = await makeSocketDirectory(dataDir, stranger);
  expect(dirname(path)).toBe(await realpath('/tmp'));
  await remove();
});
