// One hook runner process, from its start to the report of its end.
import type { Socket } from 'node:net';
import { findProcess, measure, readStat } from '../process-table.ts';
import type { RunnerReport } from '../protocol.ts';
import { runnerCommand, type RunnerInstance, type RunnerPlan } from './runner-command.ts';
import { lowerSession } from './priority.ts';
import { type OutputBudget, type OutputRelay, relayOutput } from './runner-output.ts';
import { type RunningProcess, spawn } from '../spawn.ts';

/** Sends a report to an API process, with the socket of the runner it is about. */
export type SendReport = (report: RunnerReport, socket?: Socket) => void;

/** The dependencies of one runner. */
export interface RunnerProcessOptions {
  id: string;
  plan: RunnerPlan;
  seat: RunnerInstance;
  budget: OutputBudget;
  tell: SendReport;
  now: () => number;
}

/** The time that a runner gets to stop, in milliseconds. */
const graceMs = 1000;

/** A process of one app. */
export class RunnerProcess {
  /** Resolves when it is gone and reported, with whether the app is to blame. */
  readonly ended: Promise<boolean>;
  readonly #options: RunnerProcessOptions;
  readonly #running: RunningProcess;
  readonly #output: OutputRelay | undefined;
  #asked = false;
  #fault = false;
  #pid: number | undefined;
  #grace: NodeJS.Timeout | undefined;
  readonly #gone = new AbortController();

  /** Starts it and reports that. Throws when no process can be made. */
  constructor(options: RunnerProcessOptions) {
    const { id, plan, seat, budget, tell, now } = options;
    this.#options = options;
    let output: OutputRelay | undefined;
    const onText = (text: string) => tell({ type: 'runner_output', id, text });
    this.#running = spawn({
      ...runnerCommand(plan, seat),
      onOutput: (streams) => output = relayOutput(streams, { budget, onText, now }),
    });
    this.#output = output;
    tell({ type: 'runner_started', id, pid: this.#running.pid }, this.#running.socket);
    this.ended = this.#running.exited.then(() => this.#finish());
  }

  /** Puts it behind the server's own processes: hooks are about to be loaded. Until then, its start is the server's work. */
  lower(): void {
    void lowerSession(() => this.#find(), this.#gone.signal);
  }

  /** Asks or forces it to end; `fault` says that the app is to blame. */
  end({ kill, fault }: { kill: boolean; fault: boolean }): void {
    if (kill) {
      this.#fault ||= fault;
      this.#running.killGroup();
    } else if (!this.#asked) this.#grace = setTimeout(() => this.#running.killGroup(), graceMs);
    this.#asked = true;
  }

  /** Its usage; undefined when it has ended. */
  async measure(): Promise<RunnerReport | undefined> {
    const pid = await this.#find() ?? this.#running.pid;
    const usage = await measure(pid);
    if (usage === undefined) return undefined;
    return { type: 'runner_measured', id: this.#options.id, cpu_ms: usage.cpu, rss_bytes: usage.rss };
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

  async #finish(): Promise<boolean> {
    this.#gone.abort();
    clearTimeout(this.#grace);
    // A request to stop from here on comes too late to be the reason.
    const isCrash = !this.#asked || this.#fault;
    await this.#output?.finish();
    this.#options.tell({ type: 'runner_exited', id: this.#options.id });
    return isCrash;
  }
}
