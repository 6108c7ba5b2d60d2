// Reads the kernel's process table, `/proc`.
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** The usage of a process. */
export interface ProcessUsage {
  /** CPU time in milliseconds. */
  cpu: number;
  /** Resident memory in bytes. */
  rss: number;
  /** The part of it that no file backs, in bytes: all that its end gives back. */
  own: number;
}

/** A row of the table. `session` is the process that leads its session, `ticks` the CPU time. */
export interface ProcessRow {
  name: string;
  state: string;
  parent: number;
  session: number;
  ticks: number;
}

/** One tick of USER_HZ, which is 100 on every architecture that Deno runs on. Milliseconds. */
const tickMs = 10;

/**
 * The innermost descendant of a process that only waits for its child, as bubblewrap does; the process itself when it has no
 * child. Undefined when it has exited or there is no `/proc`.
 */
export async function findProcess(pid: number): Promise<number | undefined> {
  const parents = new Map<number, number>();
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const row = await readStat(Number(entry));
    if (row !== undefined) parents.set(row.parent, Number(entry));
    if (row !== undefined && Number(entry) === pid) parents.set(-1, pid);
  }
  if (!parents.has(-1)) return undefined;
  let innermost = pid;
  for (let child = parents.get(pid); child !== undefined; child = parents.get(child)) innermost = child;
  return innermost;
}

/**
 * The usage of a process since its start; undefined when it has exited. Reads without waiting, as this takes some 30 µs, and
 * as a promise ten times as much.
 */
export function measure(pid: number): ProcessUsage | undefined {
  try {
    const row = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
    const rss = bytes('VmRSS');
    // A process that has ended, but was not noticed yet, has no memory.
    if (row === undefined || Number.isNaN(rss)) return undefined;
    return { cpu: row.ticks * tickMs, rss, own: bytes('RssAnon') + bytes('RssShmem') };
  } catch {
    return undefined;
  }
}

/** The `/proc` entry of a process; its state is `Z` or `X` after its exit. Undefined when there is none, or it is hidden. */
export async function readStat(pid: number): Promise<ProcessRow | undefined> {
  return parseStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
}

/** See https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name may hold spaces and parentheses. */
function parseStat(stat: string): ProcessRow | undefined {
  const end = stat.lastIndexOf(')');
  const [state = '', parent, , session, ...fields] = stat.slice(end + 2).split(' ');
  if (fields.length < 16) return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, end);
  const ticks = Number(fields[7]) + Number(fields[8]);
  return { name, state, parent: Number(parent), session: Number(session), ticks };
}
