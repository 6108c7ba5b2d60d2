// One hook runner process, from its start to the report of its end.
import type { Socket } from 'node:net';
import { findProcess, measure, type ProcessUsage, readStat } from '../process-table.ts';
import type { RunnerReport } from '../protocol.ts';
import type { SharedRunner } from './shares/workspace-share.ts';
import { runnerCommand, type RunnerInstance, type RunnerPlan } from './runner-command.ts';
import { greedyNice, hookNice, rankSession } from './priority.ts';
import { type OutputBudget, type OutputRelay, relayOutput } from './runner-output.ts';
import { type Exit, type RunningProcess, spawn } from '../spawn.ts';
import { systemErrorCode } from '../errors.ts';

/** Sends a report to an API process, with the socket of the runner it is about. */
export type SendReport = (report: RunnerReport, socket?: Socket) => void;

/** The dependencies of one runner. */
export interface RunnerProcessOptions {
  id: string;
  app: string;
  plan: RunnerPlan;
  seat: RunnerInstance;
  budget: OutputBudget;
  /** True when the kernel has ended a process of the workspace for want of memory, once for each. */
  takeKill: () => boolean;
  tell: SendReport;
  now: () => number;
}

/** The time that a runner gets to stop, in milliseconds. */
const graceMs = 1000;
/** The code of bubblewrap when the process below it was killed. */
const killedCode = 137;
/** What a runner uses is reported so often. Milliseconds. */
const reportMs = 5000;

/** A process of one app. */
export class RunnerProcess implements SharedRunner {
  /** Resolves when it is gone and reported, with whether the app is to blame. */
  readonly ended: Promise<boolean>;
  readonly app: string;
  readonly #options: RunnerProcessOptions;
  readonly #running: RunningProcess;
  readonly #output: OutputRelay | undefined;
  #asked = false;
  #fault = false;
  #pid: number | undefined;
  #nice: number = hookNice;
  #usage: ProcessUsage = { cpu: 0, rss: 0, own: 0 };
  #reported = { cpu: 0, at: -Infinity };
  #grace: NodeJS.Timeout | undefined;
  readonly #gone = new AbortController();

  /** Starts it and reports that. Throws when no process can be made. */
  constructor(options: RunnerProcessOptions) {
    const { id, plan, seat, budget, tell, now } = options;
    this.#options = options;
    this.app = options.app;
    let output: OutputRelay | undefined;
    const onText = (text: string) => tell({ type: 'runner_output', id, text });
    this.#running = spawn({
      ...runnerCommand(plan, seat),
      onOutput: (streams) => output = relayOutput(streams, { budget, onText, now }),
    });
    this.#output = output;
    tell({ type: 'runner_started', id, pid: this.#running.pid }, this.#running.socket);
    this.ended = this.#running.exited.then((exit) => this.#finish(exit));
  }

  /** Puts it behind the server's own processes: hooks are about to be loaded. Until then, its start is the server's work. */
  async lower(): Promise<void> {
    await rankSession(() => this.#find(), () => this.#nice, this.#gone.signal);
  }

  /** Puts it behind all others, or back to where hooks are. */
  rank(isLast: boolean): void {
    const nice = isLast ? greedyNice : hookNice;
    if (nice === this.#nice) return;
    this.#nice = nice;
    void this.lower();
  }

  /** Stops it, or has it continue, and says so. */
  pause(isPaused: boolean): void {
    // Signals are for the process that runs hooks; bubblewrap, above it, only waits.
    if (this.#pid === undefined || this.#gone.signal.aborted) return;
    signal(this.#pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
    this.slow(isPaused);
  }

  /** See `SharedRunner`. */
  slow(isSlowed: boolean): void {
    if (this.#gone.signal.aborted) return;
    this.#options.tell({ type: 'runner_paused', id: this.#options.id, paused: isSlowed });
  }

  /** See `SharedRunner`. */
  spent(share: 'cpu' | 'memory', kill: boolean): void {
    this.#options.tell({ type: 'runner_spent', id: this.#options.id, share });
    if (kill) this.end({ kill, fault: false });
  }

  /** Asks or forces it to end; `fault` says that the app is to blame. */
  end({ kill, fault }: { kill: boolean; fault: boolean }): void {
    if (kill) {
      this.#fault ||= fault;
      this.#running.killGroup();
    } else if (!this.#asked) this.#grace = setTimeout(() => this.#running.killGroup(), graceMs);
    this.#asked = true;
  }

  /** See `SharedRunner`. Also reports the usage every few seconds. */
  measure(): ProcessUsage | undefined {
    const usage = this.#pid === undefined ? undefined : measure(this.#pid);
    if (usage === undefined) return undefined;
    this.#usage = usage;
    const isDue = this.#options.now() - this.#reported.at >= reportMs;
    if (isDue && usage.cpu > this.#reported.cpu) this.#reportUsage();
    return usage;
  }

  /** Measures it, and reports that. */
  async measureNow(): Promise<void> {
    await this.#find();
    this.measure();
    this.#reportUsage();
  }

  #reportUsage(): void {
    const { cpu: cpu_ms, rss: rss_bytes } = this.#usage;
    this.#reported = { cpu: cpu_ms, at: this.#options.now() };
    this.#options.tell({ type: 'runner_measured', id: this.#options.id, cpu_ms, rss_bytes });
  }

  /** The process that runs the hooks: at level `os` one below the leader, which begins a session of its own. */
  async #find(): Promise<number | undefined> {
    if (this.#pid !== undefined) return this.#pid;
    const leader = this.#running.pid;
    const pid = await findProcess(leader);
    if (pid === undefined || pid === leader && this.#options.plan.level === 'os') return undefined;
    if ((await readStat(pid))?.session === pid) this.#pid = pid;
    return this.#pid;
  }

  async #finish({ signal, code }: Exit): Promise<boolean> {
    this.#gone.abort();
    clearTimeout(this.#grace);
    const wasKilled = signal === 'SIGKILL' || code === killedCode;
    if (wasKilled && !this.#asked && this.#options.takeKill()) {
      this.#asked = true;
      this.spent('memory', false);
    }
    // A request to stop from here on comes too late to be the reason.
    const isCrash = !this.#asked || this.#fault;
    await this.#output?.finish();
    if (this.#usage.cpu > this.#reported.cpu) this.#reportUsage();
    this.#options.tell({ type: 'runner_exited', id: this.#options.id });
    return isCrash;
  }
}

/** One that has ended meanwhile is passed over. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error;
  }
}
