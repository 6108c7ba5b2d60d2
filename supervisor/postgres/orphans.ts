// Cleans up what an earlier PostgreSQL left behind when it was killed: processes, and a `postmaster.pid`.
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemErrorCode } from '../errors.ts';
import { readStat } from '../process-table.ts';

const patience = 3_000;
const poll = 10;

/**
 * Ends PostgreSQL processes of a cluster whose postmaster is gone: they hold its shared memory, and a new postmaster
 * refuses to start before they are gone. Only where `/proc` shows them; elsewhere the new postmaster is tried again
 * until they have ended by themselves. The caller holds the lock of the data directory.
 */
export async function endOrphans(cluster: string): Promise<void> {
  const deadline = performance.now() + patience;
  let signal: NodeJS.Signals = 'SIGQUIT';
  let processes = await processesOf(cluster);
  while (processes.length > 0) {
    for (const pid of processes) send(pid, signal);
    await pause(poll);
    if (performance.now() > deadline) signal = 'SIGKILL';
    processes = await processesOf(cluster);
  }
}

/**
 * Removes a `postmaster.pid` whose process number belongs to no running postmaster: PostgreSQL takes whatever has the
 * number for one. After a restart of a container the numbers are often the same; a killed postmaster keeps its own until
 * somebody has heard of its end. Call after `endOrphans`.
 */
export async function removeStalePid(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (pid > 0 && await isNoneOf(pid)) await rm(file, { force: true });
}

/** True when it is another program, or has ended. False also for one that cannot be seen. */
async function isNoneOf(pid: number): Promise<boolean> {
  const row = await readStat(pid);
  return row !== undefined && (row.name !== 'postgres' || /^[ZX]$/.test(row.state));
}

async function processesOf(cluster: string): Promise<number[]> {
  const entries = await readdir('/proc').catch((): string[] => []);
  const found = await Promise.all(
    entries.filter((entry) => /^\d+$/.test(entry)).map(async (entry) => {
      // A process may end, or be another user's, while it is looked at: then it is none of this cluster.
      const directory = await readlink(`/proc/${entry}/cwd`).catch(() => '');
      if (directory !== cluster) return undefined;
      const name = await readFile(`/proc/${entry}/comm`, 'utf8').catch(() => '');
      return name.trim() === 'postgres' ? Number(entry) : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error;
  }
}
