// What a killed PostgreSQL leaves behind: a file with a process number that PostgreSQL would take for a running one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeStalePid } from '../../../supervisor/postgres/orphans.ts';

let cluster = '';
let parent: ChildProcess;

beforeEach(async () => {
  cluster = await mkdtemp(join(tmpdir(), 'bulkhead-orphans-'));
});
afterEach(async () => {
  parent.kill('SIGKILL');
  await rm(cluster, { recursive: true, force: true });
});

/** Has a process that goes by a name; whoever started it does not ask how it ends. Answers its number. */
async function child(name: string): Promise<number> {
  await copyFile('/bin/sleep', join(cluster, name));
  await chmod(join(cluster, name), 0o700);
  parent = spawn('/bin/sh', ['-c', `./${name} 60 & echo $!; exec sleep 60`], { cwd: cluster });
  const [line] = await once(parent.stdout ?? parent, 'data');
  // Until then it is a shell, which does ask.
  await expect.poll(() => statOf(parent.pid ?? 0)).toContain('(sleep)');
  const pid = Number(String(line));
  await expect.poll(() => statOf(pid)).toContain(`(${name})`);
  return pid;
}

async function held(pid: number): Promise<boolean> {
  await writeFile(join(cluster, 'postmaster.pid'), `${pid}\n${cluster}\n`);
  await removeStalePid(cluster);
  return (await readdir(cluster)).includes('postmaster.pid');
}

const statOf = (pid: number) => readFile(`/proc/${pid}/stat`, 'utf8');

it('is left to a postmaster that runs', async () => {
  const pid = await child('postgres');
  expect(await held(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

it('is taken from one that has ended, though nobody has heard of it and its number is not free', async () => {
  const pid = await child('postgres');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => statOf(pid)).toContain('(postgres) Z');
  expect(await held(pid)).toBe(false);
});

it('is taken from another program that has the number now', async () => {
  const pid = await child('neighbour');
  expect(await held(pid)).toBe(false);
  process.kill(pid, 'SIGKILL');
});
