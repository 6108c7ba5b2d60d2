// Keeps a long-running child process alive: starts it, restarts it after a crash, and stops it.
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from './errors.ts';
import { type RestartRules, Restarts } from './restarts.ts';
import { type Command, type Exit, type RunningProcess, spawn } from './spawn.ts';
import { StartRefused } from './start-refused.ts';

/** The state of a child. `starting` lasts until the process serves, and again from a crash until its successor serves. */
export type ChildState = 'starting' | 'ready' | 'stopping' | 'stopped';

/** The description of a child. Times in milliseconds. */
export interface ChildSpec {
  name: string;
  /** Prepares one start and returns its command. */
  command: () => Command | Promise<Command>;
  /** Resolves when the process serves. `StartRefused` before it has ever served means that a retry would fail, too. */
  whenReady: (running: RunningProcess, ended: AbortSignal) => Promise<void>;
  readyTimeoutMs: number;
  /** Watches the process until `ended` is aborted. Rejects when it hangs. */
  watch?: (running: RunningProcess, ended: AbortSignal) => Promise<never>;
  /** Asks the process to finish its work and exit. */
  askToStop: (running: RunningProcess) => void;
  stopTimeoutMs: number;
  restarts: RestartRules;
}

/** An event in the life of a child. */
export type ChildEvent =
  | { type: 'ready'; name: string; pid: number; milliseconds: number }
  | { type: 'crashed'; name: string; reason: string; wait: number; opened: boolean };

/** A child process that is restarted whenever it exits without being asked to. */
export class Child {
  readonly #spec: ChildSpec;
  readonly #onEvent: (event: ChildEvent) => void;
  readonly #restarts: Restarts;
  readonly #stop = new AbortController();
  readonly #firstReady = Promise.withResolvers<void>();
  #state: ChildState = 'stopped';
  #running: RunningProcess | undefined;
  #readySince: number | undefined;
  #wasReady = false;
  #life: Promise<void> | undefined;

  constructor(spec: ChildSpec, onEvent: (event: ChildEvent) => void) {
    this.#spec = spec;
    this.#onEvent = onEvent;
    this.#restarts = new Restarts(spec.restarts);
  }

  get state(): ChildState {
    return this.#state;
  }

  /** The running process; undefined between two starts. */
  get running(): RunningProcess | undefined {
    return this.#running;
  }

  /** Starts the child. Resolves when it is ready for the first time; throws when it gives up before that. */
  start(): Promise<void> {
    this.#state = 'starting';
    this.#life ??= this.#live();
    return this.#firstReady.promise;
  }

  /** Asks the process to stop, and kills its group after the timeout. Resolves when it has exited. */
  async stop(): Promise<void> {
    if (this.#life === undefined) return;
    if (this.#state !== 'stopped') this.#state = 'stopping';
    this.#stop.abort();
    const running = this.#running;
    if (running !== undefined) {
      this.#spec.askToStop(running);
      const timer = setTimeout(() => running.killGroup(), this.#spec.stopTimeoutMs);
      await running.exited;
      clearTimeout(timer);
    }
    await this.#life;
  }

  /** Kills the process at once, when the supervisor was told twice to stop. */
  kill(): void {
    this.#stop.abort();
    this.#running?.killGroup();
  }

  async #live(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const reason = await this.#liveOnce();
      if (this.#stop.signal.aborted) break;
      const { waitMs: wait, opened } = this.#restarts.crashed(performance.now(), this.#readySince);
      this.#state = 'starting';
      this.#onEvent({ type: 'crashed', name: this.#spec.name, reason, wait, opened });
      if (opened) this.#firstReady.reject(new StartRefused(`${this.#spec.name} does not start: ${reason}`));
      await pause(wait, undefined, { signal: this.#stop.signal }).catch(() => 'told to stop');
    }
    this.#state = 'stopped';
    this.#firstReady.reject(new StartRefused(`${this.#spec.name} was stopped before it was ready`));
  }

  /** Runs one process from its start to its exit. Returns the reason for which it ended. */
  async #liveOnce(): Promise<string> {
    this.#readySince = undefined;
    const started = performance.now();
    try {
      const command = await this.#spec.command();
      if (this.#stop.signal.aborted) return 'told to stop';
      this.#running = spawn(command);
      await this.#untilReady(this.#running);
      this.#readySince = performance.now();
      if (!this.#stop.signal.aborted) this.#state = 'ready';
      const milliseconds = Math.round(this.#readySince - started);
      this.#onEvent({ type: 'ready', name: this.#spec.name, pid: this.#running.pid, milliseconds });
      this.#wasReady = true;
      this.#firstReady.resolve();
      return describe(await this.#untilEnded(this.#running));
    } catch (error) {
      this.#running?.killGroup();
      await this.#running?.exited;
      if (error instanceof StartRefused && !this.#wasReady) {
        this.#stop.abort();
        this.#firstReady.reject(error);
      }
      return messageOf(error);
    } finally {
      this.#running = undefined;
    }
  }

  /** Resolves when the process exits. Throws when it hangs. */
  async #untilEnded(running: RunningProcess): Promise<Exit> {
    const ended = new AbortController();
    const watched = this.#spec.watch?.(running, ended.signal);
    try {
      return await Promise.race(watched === undefined ? [running.exited] : [running.exited, watched]);
    } finally {
      ended.abort();
    }
  }

  async #untilReady(running: RunningProcess): Promise<void> {
    const ended = new AbortController();
    const exited = running.exited.then((exit) => {
      throw new Error(describe(exit));
    });
    const late = pause(this.#spec.readyTimeoutMs, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`was not ready within ${this.#spec.readyTimeoutMs} ms`);
    });
    exited.catch(() => 'known by the race');
    late.catch(() => 'known by the race');
    try {
      await Promise.race([this.#spec.whenReady(running, ended.signal), exited, late]);
    } finally {
      ended.abort();
    }
  }
}

function describe(exit: Exit): string {
  return exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
}
