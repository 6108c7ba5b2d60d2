// Runners as the supervisor starts and ends them for this process: asked for by message, handed over as a socket.
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import type {
  CheckResult,
  RunnerRefusal,
  RunnerReport,
  RunnerRequest,
  RunnerShare,
} from '../../../supervisor/protocol.ts';

/** A runner whose process runs. */
export interface HostedRunner {
  /** Our end of its channel; nothing has been read from it. */
  socket: Socket;
  /** Resolves when the process has ended. */
  exited: Promise<void>;
  /** It says that it is ready, and hooks are about to be loaded. */
  ready(): void;
  /** The socket has been closed: what is left of it ends soon. */
  stop(): void;
  /** Ends it at once; `fault` counts as a crash of the app. */
  kill(fault: boolean): void;
  /** Its usage so far; undefined when it has ended. */
  measure(): Promise<RunnerUse | undefined>;
}

/** The usage of a runner. */
export interface RunnerUse {
  cpu_ms: number;
  rss_bytes: number;
}

/** Whose runner, how large it may grow, and who hears what it prints. */
export interface RunnerOptions {
  workspace: string;
  app: string;
  memory_mb: number;
  /** What it and all others of the workspace may take. */
  share: RunnerShare;
  onOutput: (text: string) => void;
  /** Called when the supervisor has stopped it, or lets it go on. */
  onPaused: (isPaused: boolean) => void;
  /** Called when it took most of a share that is spent. */
  onSpent: (share: 'cpu' | 'memory') => void;
  /** Called every few seconds while it works, and when it has ended. */
  onUse: (use: RunnerUse) => void;
}

/** The files of an app whose types are checked, and what they are written against. */
export interface TypeCheck {
  workspace: string;
  app: string;
  files: readonly { file: string; source: string }[];
  types: string;
}

/** Why there is no runner. */
export class RunnerRefused extends Error {
  readonly reason: RunnerRefusal;
  readonly retryMs: number;

  constructor(reason: RunnerRefusal, retryMs: number, message: string) {
    super(message);
    this.name = 'RunnerRefused';
    this.reason = reason;
    this.retryMs = retryMs;
  }
}

interface RunnerEntry {
  options: RunnerOptions;
  started: PromiseWithResolvers<HostedRunner>;
  exited: PromiseWithResolvers<void>;
  measuring: ((use: RunnerUse | undefined) => void)[];
}

/** Of so many runners, the most that one workspace has: half, so that whatever it does, others get some. */
export function runnersOfWorkspace(maxRunners: number): number {
  return Math.ceil(maxRunners / 2);
}

const startTimeoutMs = 10_000;
const fullRetryMs = 1_000;
const checkTimeoutMs = 5_000;

/** The supervisor at the other end of this process's message channel. */
export class SupervisedRunners {
  readonly #send: (request: RunnerRequest) => void;
  readonly #maxRunners: number;
  readonly #onShareSpent: (workspace: string) => void;
  readonly #entries = new Map<string, RunnerEntry>();
  readonly #sums = new Map<string, (bytes: number) => void>();
  readonly #checks = new Map<string, (result: CheckResult) => void>();

  /**
   * `most`: so many runners at once, those that start or end included; a workspace has half of them. `onShareSpent` hears of
   * one that asked for more.
   */
  constructor(
    send: (request: RunnerRequest) => void,
    most: number,
    onShareSpent: (workspace: string) => void = () => undefined,
  ) {
    this.#send = send;
    this.#maxRunners = most;
    this.#onShareSpent = onShareSpent;
  }

  /** Starts a process. Throws `RunnerRefused`. */
  async start(options: RunnerOptions): Promise<HostedRunner> {
    this.#requireRoom(options.workspace);
    const id = randomUUID();
    const started = Promise.withResolvers<HostedRunner>();
    this.#entries.set(id, { options, started, exited: Promise.withResolvers(), measuring: [] });
    const { workspace, app, memory_mb, share } = options;
    const late = setTimeout(() => this.#giveUp(id), startTimeoutMs);
    const done = () => clearTimeout(late);
    started.promise.then(done, done);
    this.#send({ type: 'runner_start', id, workspace, app, memory_mb, share });
    return await started.promise;
  }

  /** The app's code is another now: its crashes are forgotten. */
  clearCrashes(workspace: string, app: string): void {
    this.#send({ type: 'runner_clear_crashes', workspace, app });
  }

  /** Tells the supervisor what policy says by now. */
  setShare(workspace: string, share: RunnerShare): void {
    this.#send({ type: 'runner_share', workspace, share });
  }

  /** Memory that the runners of a workspace or an app use, in bytes; those of all processes. */
  memoryOf({ workspace, app }: { workspace: string; app?: string | undefined }): Promise<number> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#sums.set(id, resolve);
    this.#send({ type: 'runner_sum', id, workspace, ...app === undefined ? {} : { app } });
    return promise.finally(() => this.#sums.delete(id));
  }

  /** The output of `deno check` for an app's files. */
  check(what: TypeCheck): Promise<CheckResult> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<CheckResult>();
    this.#checks.set(id, resolve);
    const late = setTimeout(() => resolve({ unchecked: 'late' }), checkTimeoutMs);
    this.#send({ type: 'runner_check', id, ...what });
    return promise.finally(() => {
      clearTimeout(late);
      this.#checks.delete(id);
    });
  }

  /** Takes what the supervisor says of runners; `handle` is what came with the message. */
  receive(report: Exclude<RunnerReport, { type: 'hooks_changed' }>, handle: unknown): void {
    const { id } = report;
    if (report.type === 'runner_summed') return this.#sums.get(id)?.(report.memory_bytes);
    if (report.type === 'runner_checked') return this.#checks.get(id)?.(report);
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      if (handle instanceof Socket) handle.destroy();
      // It was given up before the supervisor had begun to start it.
      if (report.type === 'runner_started') this.#send({ type: 'runner_stop', id, kill: true });
      return;
    }
    switch (report.type) {
      case 'runner_started':
        return this.#onStarted(id, entry, handle);
      case 'runner_refused':
        this.#entries.delete(id);
        return entry.started.reject(new RunnerRefused(report.reason, report.retry_ms, report.message));
      case 'runner_exited': {
        this.#entries.delete(id);
        for (const resolve of entry.measuring) resolve(undefined);
        entry.exited.resolve();
        return entry.started.reject(new RunnerRefused('cannot_start', 0, 'the hook runner ended at once'));
      }
      case 'runner_output':
        return entry.options.onOutput(report.text);
      case 'runner_paused':
        return entry.options.onPaused(report.paused);
      case 'runner_spent':
        return entry.options.onSpent(report.share);
      case 'runner_measured': {
        const { cpu_ms, rss_bytes } = report;
        entry.options.onUse({ cpu_ms, rss_bytes });
        for (const resolve of entry.measuring.splice(0)) resolve({ cpu_ms, rss_bytes });
      }
    }
  }

  #requireRoom(workspace: string): void {
    if (this.#entries.size >= this.#maxRunners) {
      throw new RunnerRefused('full', fullRetryMs, `there are ${this.#maxRunners} runners already`);
    }
    const share = runnersOfWorkspace(this.#maxRunners);
    let own = 0;
    for (const { options } of this.#entries.values()) if (options.workspace === workspace) own++;
    if (own < share) return;
    this.#onShareSpent(workspace);
    throw new RunnerRefused('full', fullRetryMs, `the workspace has ${share} runners already`);
  }

  #giveUp(id: string): void {
    this.#entries.get(id)?.started.reject(
      new RunnerRefused('cannot_start', 1_000, 'the hook runner was not started in time'),
    );
    this.#entries.delete(id);
    this.#send({ type: 'runner_stop', id, kill: true });
  }

  #onStarted(id: string, entry: RunnerEntry, handle: unknown): void {
    // Without a socket it has died meanwhile, which the next message says.
    if (!(handle instanceof Socket)) return;
    entry.started.resolve({
      socket: handle,
      exited: entry.exited.promise,
      ready: () => this.#send({ type: 'runner_ready', id }),
      stop: () => this.#send({ type: 'runner_stop', id, kill: false }),
      kill: (fault) => this.#send({ type: 'runner_stop', id, kill: true, ...(fault ? { fault } : {}) }),
      measure: () => {
        if (!this.#entries.has(id)) return Promise.resolve(undefined);
        return new Promise((resolve) => {
          entry.measuring.push(resolve);
          this.#send({ type: 'runner_measure', id });
        });
      },
    });
  }
}
