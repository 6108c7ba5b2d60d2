// What Linux says of a process: the CPU time it used and the memory it holds
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks a second, fixed in Linux's interface to user space. */
const ticksPerSecond = 100;

/** Fields of /proc/<pid>/stat after the command name, which may hold spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** User and system CPU time of all threads of a process, in microseconds; undefined of one that has ended. */
export function cpuMicroseconds(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}`)) return undefined;
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * (1_000_000 / ticksPerSecond);
}

/** Resident memory of a process, in MiB. */
export function residentMebibytes(pid: number): number {
  return statusMebibytes(pid, 'VmRSS');
}

/** Has the kernel watch the resident memory of a process from now on, without anybody who asks; answers what it is, in MiB. */
export function beginPeak(pid: number): number {
  // 5 sets the peak back (https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return residentMebibytes(pid);
}

/** The most that it was since then, in MiB. */
export function peakMebibytes(pid: number): number {
  return statusMebibytes(pid, 'VmHWM');
}

function statusMebibytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1_024;
}

/** Memory of a process, in MiB: all that is resident, what no other process has, and its share of what others have too. */
export interface Memory {
  resident: number;
  private: number;
  proportional: number;
}

/** What a process holds (https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html). */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const of = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return {
    resident: of('Rss'),
    private: of('Private_Clean') + of('Private_Dirty'),
    proportional: of('Pss'),
  };
}

/** A descendant of a process whose command line contains the text. */
export function findDescendant(ancestor: number, text: string): number | undefined {
  return descendantsOf(ancestor).find((pid) => commandLine(pid).includes(text));
}

/** How many descendants of a process have the text in their command lines. */
export function countDescendants(ancestor: number, text: string): number {
  return findDescendants(ancestor, text).length;
}

/** All descendants of a process whose command lines contain the text. */
export function findDescendants(ancestor: number, text: string): number[] {
  return descendantsOf(ancestor).filter((pid) => commandLine(pid).includes(text));
}

function descendantsOf(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(Number(name)));
  }
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === ancestor || descends(parent));
  };
  return [...parents.keys()].filter(descends);
}

function parentOf(pid: number): number {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    // It ended between the listing and the reading.
    return 0;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
