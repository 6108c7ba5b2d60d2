// What the kernel says of running processes.
import { readdir, readFile } from 'node:fs/promises';

/** CPU time in milliseconds and resident memory in bytes. */
export interface ProcessUsage {
  cpu: number;
  rss: number;
}

/** USER_HZ, which is 100 on every processor that Linux still runs Deno on. Milliseconds. */
const tickMs = 10;

/**
 * The innermost process below one that only waits for it, as bubblewrap does, or the process itself. Undefined when it
 * is gone, or where there is no /proc.
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

/** What the process has used since its start; undefined when it is gone. */
export async function measure(pid: number): Promise<ProcessUsage | undefined> {
  const row = await readStat(pid);
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (row === undefined || kilobytes === undefined) return undefined;
  return { cpu: row.ticks * tickMs, rss: Number(kilobytes) * 1024 };
}

/** A process as `/proc` has it, in state `Z` or `X` when it has ended; undefined when it is gone, or cannot be seen. */
export async function readStat(
  pid: number,
): Promise<{ name: string; state: string; parent: number; ticks: number } | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name may hold spaces and parentheses.
  const end = stat.lastIndexOf(')');
  const [state = '', parent, ...fields] = stat.slice(end + 2).split(' ');
  if (fields.length < 18) return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, end);
  return { name, state, parent: Number(parent), ticks: Number(fields[9]) + Number(fields[10]) };
}
