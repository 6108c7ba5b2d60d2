// Looking at the processes of this machine, as `ps` would.
import { readdir, readFile } from 'node:fs/promises';

/** One process. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

/** Every process but zombies: those are dead, and only wait for whatever is process 1 here to notice. */
export async function listProcesses(): Promise<ProcessRow[]> {
  const entries = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const rows = await Promise.all(entries.map((entry) => readProcess(Number(entry))));
  return rows.filter((row) => row !== undefined);
}

/** True while the process runs. */
export async function isAlive(pid: number): Promise<boolean> {
  return await readProcess(pid) !== undefined;
}

/** The process and everything below it. */
export async function processTree(pid: number): Promise<ProcessRow[]> {
  const all = await listProcesses();
  const below = (parent: number): ProcessRow[] =>
    all.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.pid)]);
  return [...all.filter((row) => row.pid === pid), ...below(pid)];
}

/** True of a process of the API. */
export function isApi({ command }: ProcessRow): boolean {
  return /^\S*node\b.*\bapi\/main\b/.test(command);
}

/** Resident memory of a process in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) / 1024;
}

/** Processor time that a process has taken so far, in seconds; it is counted in hundredths. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

async function readProcess(pid: number): Promise<ProcessRow | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name may hold spaces and parentheses.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined;
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
    .trim();
  return { pid, parent: Number(parent), group: Number(group), command };
}
