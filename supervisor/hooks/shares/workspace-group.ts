// The control group of the hooks of one workspace. See https://docs.kernel.org/admin-guide/cgroup-v2.html.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../errors.ts';

/** Processes and threads of one runner at most: Deno's and bubblewrap's are about ten. */
export const maxProcesses = 48;

/** The kernel gives out CPU time once in so many microseconds. */
const periodUs = 100_000;
/** The least that it gives. */
const minQuotaUs = 1_000;

/** A group, made when this is. All but `remove` throw what the kernel refuses. */
export class WorkspaceGroup {
  readonly #path: string;
  #cpu = 'max';
  #throttled = 0;
  #kills = 0;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true });
  }

  /** The file into which a process writes 0 to be in the group. */
  get entrance(): string {
    return join(this.#path, 'cgroup.procs');
  }

  /** Has the kernel end the largest process rather than let all have more bytes than this, in memory or elsewhere. */
  limitMemory(bytes: number): void {
    this.#write('memory.max', String(bytes));
    try {
      this.#write('memory.swap.max', '0');
    } catch (error) {
      // The kernel has no swap.
      if (!['ENOENT', 'EACCES', 'EPERM'].includes(systemErrorCode(error))) throw error;
    }
  }

  /** Lets them have the processes and threads of so many runners. */
  limitRunners(count: number): void {
    this.#write('pids.max', String(maxProcesses * count));
  }

  /** Has the kernel stop them in every tenth of a second as soon as they took that much of it; undefined for no limit. */
  limitCores(cores: number | undefined): void {
    const quota = cores === undefined ? 'max' : Math.max(minQuotaUs, Math.round(cores * periodUs));
    const cpu = `${quota} ${periodUs}`;
    if (cpu === this.#cpu) return;
    this.#write('cpu.max', cpu);
    this.#cpu = cpu;
  }

  /** True when the kernel had to stop them since the last call. */
  get wasThrottled(): boolean {
    const before = this.#throttled;
    this.#throttled = this.#read('cpu.stat', 'nr_throttled');
    return this.#throttled > before;
  }

  /** True once for each process that the kernel has ended for want of memory. */
  takeKill(): boolean {
    if (this.#read('memory.events', 'oom_kill') <= this.#kills) return false;
    this.#kills++;
    return true;
  }

  /** Removes it. False while a process is in it. */
  remove(): boolean {
    try {
      rmdirSync(this.#path);
      return true;
    } catch (error) {
      return systemErrorCode(error) === 'ENOENT';
    }
  }

  #read(file: string, name: string): number {
    const text = readFileSync(join(this.#path, file), 'utf8');
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  }

  #write(file: string, value: string): void {
    writeFileSync(join(this.#path, file), value);
  }
}
