// What a killed PostgreSQL leaves behind: a file with a process number that PostgreSQL would take for a running one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeStalePid } from '../../supervisor/postgres-orphans.ts';

let cluster = '';
let parent: ChildProcess;

beforeEach(async () => {
  cluster = await mkdtemp(join(tmpdir(), 'bulkhead-orphans-'));
});
afterEach(async () => {
  parent.kill('SIGKILL');
  await rm(cluster, { recursive: true, force: true });
});

/** Has a process that goes by a name until it ends; whoever started it asks nobody how. Answers its number. */
async function child(name: string, seconds: number): Promise<number> {
  await copyFile('/bin/sleep', join(cluster, name));
  await chmod(join(cluster, name), 0o700);
  parent = spawn('/bin/sh', ['-c', `./${name} ${seconds} & echo $!; exec sleep 60`], { cwd: cluster });
  const [line] = await once(parent.stdout ?? parent, 'data');
  return Number(String(line));
}

async function held(pid: number): Promise<boolean> {
  await writeFile(join(cluster, 'postmaster.pid'), `${pid}\n${cluster}\n`);
  await removeStalePid(cluster);
  return (await readdir(cluster)).includes('postmaster.pid');
}

const statOf = (pid: number) => readFile(`/proc/${pid}/stat`, 'utf8');

it('is left to a postmaster that runs', async () => {
  const pid = await child('postgres', 60);
  await expect.poll(() => statOf(pid)).toContain('(postgres)');
  expect(await held(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

it('is taken from one that has ended, though nobody has heard of it and its number is not free', async () => {
  const pid = await child('postgres', 0);
  await expect.poll(() => statOf(pid)).toContain('(postgres) Z');
  expect(await held(pid)).toBe(false);
});

it('is taken from another program that has the number now', async () => {
  const pid = await child('neighbour', 60);
  await expect.poll(() => statOf(pid)).toContain('(neighbour)');
  expect(await held(pid)).toBe(false);
  process.kill(pid, 'SIGKILL');
});
