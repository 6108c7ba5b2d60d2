// What the runners of one workspace take of the machine, and which of them has to stop or end for it.
import type { ProcessUsage } from '../../process-table.ts';
import type { RunnerShare } from '../../protocol.ts';
import { CpuBudget } from './cpu-budget.ts';
import type { KernelHold } from './kernel-hold.ts';

/** A runner, as far as its share is concerned. */
export interface SharedRunner {
  readonly app: string;
  /** Undefined when it is not there yet, or has ended. */
  measure(): ProcessUsage | undefined;
  /** Stops it, or has it continue. */
  pause(isPaused: boolean): void;
  /** Says that the kernel holds it back, or no longer does. */
  slow(isSlowed: boolean): void;
  /** Puts it behind all others, or back to where hooks are. */
  rank(isLast: boolean): void;
  /** Says that it took most of a share that is spent. With `kill`, it is ended, and without, if it has no call under way. */
  spent(share: 'cpu' | 'memory', kill: boolean): void;
}

/** The account of one runner. CPU time in milliseconds. */
interface Account {
  usage: ProcessUsage;
  /** In the last stretch of time. */
  used: number;
  /** Since the workspace is short of time. */
  usedWhileShort: number;
  isEnding: boolean;
}

/** A stretch of time, in milliseconds; see `CpuBudget.account`. `spare` is negative where others need what the workspace has. */
export interface Stretch {
  now: number;
  elapsedMs: number;
  spare: number;
  isAlone: boolean;
}

/** A workspace that is short of CPU time for so long has its greediest idle runner ended. Milliseconds. */
const patienceMs = 30_000;
/** It is no longer short when none of its runners had to be stopped for so long. Milliseconds. */
const enoughMs = 5_000;
const none: ProcessUsage = { cpu: 0, rss: 0, own: 0 };

/** One workspace. */
export class WorkspaceShare {
  readonly #budget: CpuBudget;
  readonly #accounts = new Map<SharedRunner, Account>();
  /** Those that are stopped, longest first. */
  readonly #paused = new Set<SharedRunner>();
  readonly #kernel: KernelHold;
  #isSlowed = false;
  #maxBytes = 0;
  #shortSince: number | undefined;
  #stoppedAt = 0;
  #used = 0;

  constructor(share: RunnerShare, kernel: KernelHold) {
    this.#budget = new CpuBudget(toCpuShare(share));
    this.#kernel = kernel;
    this.set(share);
  }

  /** Takes what policies say by now. */
  set(share: RunnerShare): void {
    this.#budget.share = toCpuShare(share);
    const bytes = share.memory_mb * 1_048_576;
    if (bytes !== this.#maxBytes) this.#kernel.ask((group) => group.limitMemory(bytes));
    this.#maxBytes = bytes;
  }

  /** Makes room for one more runner. Returns the file into which it writes 0 to be in the group. */
  makeRoom(): string | undefined {
    return this.#kernel.ask((group) => {
      group.limitRunners(this.#accounts.size + 1);
      return group.entrance;
    });
  }

  add(runner: SharedRunner): void {
    this.#accounts.set(runner, { usage: none, used: 0, usedWhileShort: 0, isEnding: false });
    if (this.#isSlowed) runner.slow(true);
  }

  remove(runner: SharedRunner): void {
    this.#accounts.delete(runner);
    this.#paused.delete(runner);
  }

  /** True when there is nothing to account for: no runner, and no debt that a new one would have to pay. */
  get isOver(): boolean {
    return this.#accounts.size === 0 && this.#budget.isFull;
  }

  /** True while it has no time left, or some of its runners are stopped. */
  get isShort(): boolean {
    return !this.#budget.hasTime || this.#paused.size > 0;
  }

  /** See `WorkspaceGroup`. */
  takeKill(): boolean {
    return this.#kernel.ask((group) => group.takeKill()) ?? false;
  }

  /** Removes its group. False while that still has a process. */
  removeGroup(): boolean {
    return this.#kernel.ask((group) => group.remove()) ?? true;
  }

  /** CPU time in the last stretch, in milliseconds. */
  get used(): number {
    return this.#used;
  }

  /** Memory that the ends of its runners would give back, in bytes. */
  get bytes(): number {
    return this.#running().reduce((sum, [, { usage }]) => sum + usage.own, 0);
  }

  get isOverMemory(): boolean {
    return this.bytes > this.#maxBytes;
  }

  /** Measures all runners, and adds up what they have taken since the last time. */
  measure(): void {
    this.#used = 0;
    for (const [runner, account] of this.#accounts) {
      const usage = runner.measure();
      account.used = usage === undefined ? 0 : usage.cpu - account.usage.cpu;
      account.usage = usage ?? { ...account.usage, own: 0, rss: 0 };
      account.usedWhileShort += account.used;
      this.#used += account.used;
    }
  }

  /** The usage of its runners, or of those of one app, as it was measured last. */
  usageOf(app: string | undefined): ProcessUsage {
    const total = { ...none };
    for (const [runner, { usage }] of this.#accounts) {
      if (app !== undefined && runner.app !== app) continue;
      for (const key of ['cpu', 'rss', 'own'] as const) total[key] += usage[key];
    }
    return total;
  }

  /** Stops the runners that took most, or has one continue. Returns true when it has become short of time by this. */
  balance({ now, elapsedMs, spare, isAlone }: Stretch): boolean {
    this.#budget.account({ elapsedMs, used: this.#used, spare: Math.max(0, spare), isAlone });
    const hadEnough = this.#paused.size === 0 && now - this.#stoppedAt > enoughMs;
    if (isAlone || hadEnough) {
      this.#shortSince = undefined;
      this.#rank(false);
    }
    if (isAlone || this.#budget.hasTime) {
      this.#kernel.ask((group) => group.limitCores(undefined));
      this.#slow(false);
      this.#continue(isAlone ? this.#paused.size : 1);
      return false;
    }
    // Beside its share, it may have what nobody else takes.
    const cores = Math.max(this.#budget.cores, (this.#used + spare) / elapsedMs);
    this.#kernel.ask((group) => group.limitCores(cores));
    const isThrottled = this.#kernel.ask((group) => group.wasThrottled);
    if (isThrottled === undefined) this.#stopBusy(elapsedMs);
    this.#slow(isThrottled ?? false);
    return this.#noteShort(now);
  }

  #stopBusy(elapsedMs: number): void {
    const busy = this.#running().filter(([, { used }]) => used > 0);
    const part = this.#budget.equalPart(elapsedMs, busy.length);
    for (const [runner, { used }] of busy) {
      if (used <= part || this.#paused.has(runner)) continue;
      this.#paused.add(runner);
      runner.pause(true);
    }
  }

  /** Returns true when the workspace was not short before. */
  #noteShort(now: number): boolean {
    this.#stoppedAt = now;
    if (this.#shortSince === undefined) {
      this.#shortSince = now;
      this.#rank(true);
      for (const [, account] of this.#accounts) account.usedWhileShort = account.used;
      return true;
    }
    if (now - this.#shortSince > patienceMs) this.#endGreediest();
    return false;
  }

  /** Ends the runner with most memory. */
  endLargest(): SharedRunner | undefined {
    const [largest] = this.#running().sort(([, a], [, b]) => b.usage.own - a.usage.own);
    if (largest === undefined) return undefined;
    const [runner, account] = largest;
    account.isEnding = true;
    runner.spent('memory', true);
    return runner;
  }

  #endGreediest(): void {
    const [greediest] = this.#running().sort(([, a], [, b]) => b.usedWhileShort - a.usedWhileShort);
    greediest?.[0].spent('cpu', false);
    this.#shortSince = undefined;
  }

  #continue(count: number): void {
    for (const runner of [...this.#paused].slice(0, count)) {
      this.#paused.delete(runner);
      runner.pause(false);
    }
  }

  #slow(isSlowed: boolean): void {
    if (isSlowed === this.#isSlowed) return;
    this.#isSlowed = isSlowed;
    for (const runner of this.#accounts.keys()) runner.slow(isSlowed);
  }

  #rank(isLast: boolean): void {
    for (const runner of this.#accounts.keys()) runner.rank(isLast);
  }

  #running(): [SharedRunner, Account][] {
    return [...this.#accounts].filter(([, { isEnding }]) => !isEnding);
  }
}

function toCpuShare({ cpu_cores, cpu_burst_ms }: RunnerShare) {
  return { cores: cpu_cores, burstMs: cpu_burst_ms };
}
