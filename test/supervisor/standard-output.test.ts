// Lines to a pipe, a socket or a terminal that nobody reads, or somebody reads slowly.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exitOnPausedTerminal } from '../harness/paused-terminal.ts';

const program = fileURLToPath(new URL('chatterbox.ts', import.meta.url));
const all = Array.from({ length: 3_000 }, (_, number) => `${number} ${'x'.repeat(93)}\n`).join('');
let folder = '';
let pipe: FileHandle;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-pipe-'));
  const path = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [path]);
  // Of both ends, so that it has a reader: one that reads when it likes.
  pipe = await open(path, 'r+');
});
afterEach(async () => {
  await pipe.close();
  await rm(folder, { recursive: true });
});

/** How it ended: `[code, signal]`. One that hangs is ended by a signal. */
const chatter = () =>
  once(
    spawn(process.execPath, [program], { stdio: ['ignore', pipe.fd, 'inherit'], timeout: 20_000 }),
    'exit',
  );

async function read(bytes: number): Promise<string> {
  const { buffer, bytesRead } = await pipe.read(Buffer.alloc(bytes), 0, bytes);
  return buffer.toString('utf8', 0, bytesRead);
}

it('a process whose output nobody takes ends all the same, and what fits is there', async () => {
  expect(await chatter()).toEqual([0, null]);
  const taken = await read(65_536);
  expect(taken.length).toBeGreaterThan(50_000);
  expect(all.startsWith(taken)).toBe(true);
});

it('so does one whose output is a socket that nobody reads', async () => {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  // Nobody asks for the end that is here, so no more is read of it than Node does on its own.
  const chattering = spawn(process.execPath, [program], { stdio: [...stdio], timeout: 20_000 });
  expect(await once(chattering, 'exit')).toEqual([0, null]);
});

it('and one whose terminal is paused', async () => {
  expect(await exitOnPausedTerminal(program)).toBe(0);
});

it('one that is slow to take it gets all of it, in order', async () => {
  const ended = chatter();
  let taken = '';
  while (taken.length < all.length) taken += await read(4_096);
  expect(taken).toBe(all);
  expect(await ended).toEqual([0, null]);
});
