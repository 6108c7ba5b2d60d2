// The processor and the memory that there are: those of the machine, or what a control group leaves of them.
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { findOwnGroup } from './control-groups.ts';

/** One tick of `/proc/stat`. Milliseconds. */
const tickMs = 10;
/** Of the cores, so much is kept free for whoever comes next. */
const reservedShare = 0.25;

interface Sample {
  at: number;
  /** CPU time that nobody took, in milliseconds. */
  idle: number;
  /** CPU time of the control group, in milliseconds. */
  used: number;
}

/** Measures how much CPU time is left over. */
export class SpareTime {
  readonly #now: () => number;
  readonly #cores = availableParallelism();
  readonly #group: string;
  #last: Sample;

  /** `now` in milliseconds, of any origin; `group` is the folder of the server's control group, by default its own one. */
  constructor(now: () => number, group = ownGroup()) {
    this.#now = now;
    this.#group = group;
    this.#last = this.#sample();
  }

  /** CPU time that nobody took since the last call, less a quarter of all; and how long that was. Milliseconds. */
  measure(): { elapsedMs: number; spare: number } {
    const last = this.#last;
    const next = this.#sample();
    this.#last = next;
    const elapsedMs = next.at - last.at;
    // In a control group that has fewer cores than the machine, the machine's idle ones are of no use.
    const ownIdle = this.#cores * elapsedMs - (next.used - last.used);
    const idle = Math.min(next.idle - last.idle, ownIdle);
    return { elapsedMs, spare: idle - reservedShare * this.#cores * elapsedMs };
  }

  #sample(): Sample {
    return { at: this.#now(), idle: readIdle(), used: readUsed(this.#group) };
  }
}

/**
 * See https://man7.org/linux/man-pages/man5/proc_stat.5.html: user, nice, system, idle, waiting for input and
 * output. 0 where there is no such file.
 */
function readIdle(): number {
  const [, , , , idle, waiting] = read('/proc/stat').split('\n', 1).join('').trim().split(/\s+/);
  return (Number(idle ?? 0) + Number(waiting ?? 0)) * tickMs;
}

/** See https://docs.kernel.org/admin-guide/cgroup-v2.html; 0 where there are no such groups. */
function readUsed(group: string): number {
  return Number(/^usage_usec (\d+)$/m.exec(read(`${group}/cpu.stat`))?.[1] ?? 0) / 1000;
}

function ownGroup(): string {
  try {
    return findOwnGroup();
  } catch {
    return '';
  }
}

/** Memory that this process may use at most, in bytes: that of the machine, or of its control group. */
export function totalMemory(): number {
  // 0 where nothing limits it.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
