// Starting processes: the one way the supervisor runs anything, and what keeps a long-running process alive.
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { type OrphanSignal, withLifeline } from './lifeline.ts';
import { type RestartRules, Restarts } from './restarts.ts';
import { StartRefused } from './start-refused.ts';

/** What to run, and how. */
export interface Command {
  file: string;
  args: readonly string[];
  /** The whole environment: nothing of the supervisor's own is handed down. */
  env: Readonly<Record<string, string>>;
  /** Runs as this user; only root can ask for it. */
  user?: { uid: number; gid: number };
  /** Text for standard input; without it, standard input is empty. */
  input?: string;
  /** Opens a message channel to the process. */
  ipc?: { onMessage: (message: unknown) => void };
  /** Gets every line of the output; without it standard output and error are the supervisor's own. */
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** What its process group is sent when the supervisor is gone. */
  orphanSignal: OrphanSignal;
}

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that was started. */
export interface Running {
  readonly pid: number;
  /** Resolves when it has ended; nothing of its group is left then. */
  readonly exited: Promise<Exit>;
  /** Resolves when, besides, all of its output was read: later, when a process of another group holds it open. */
  readonly closed: Promise<unknown>;
  /** Sends a message over the channel; one that cannot be delivered is dropped, as the process is ending then. */
  send(message: object): void;
  /** Signals the process itself. */
  signal(name: NodeJS.Signals): void;
  /** Kills the process and its whole group at once. */
  killGroup(): void;
}

/** Starts a process in a group of its own that does not outlive the supervisor. Throws when it cannot be started. */
export function spawn(command: Command): Running {
  const { file, args } = withLifeline(command, command.orphanSignal);
  const output = command.onLine === undefined ? 'inherit' : 'pipe';
  const subprocess = execa(file, args, {
    stdio: [command.input === undefined ? 'ignore' : 'pipe', output, output, 'pipe'],
    ipc: command.ipc !== undefined,
    env: { ...command.env },
    extendEnv: false,
    cwd: '/',
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    ...command.user,
  });
  const { pid, nodeChildProcess } = subprocess;
  if (pid === undefined) throw new Error(`cannot start ${command.file}: no process could be made`);
  const lines = command.onLine;
  if (lines !== undefined && nodeChildProcess.stdout !== null && nodeChildProcess.stderr !== null) {
    createInterface({ input: nodeChildProcess.stdout }).on('line', (line) => lines(line, 'stdout'));
    createInterface({ input: nodeChildProcess.stderr }).on('line', (line) => lines(line, 'stderr'));
  }
  nodeChildProcess.stdin?.end(command.input);
  if (command.ipc !== undefined) nodeChildProcess.on('message', command.ipc.onMessage);
  const killGroup = () => signalGroup(pid);
  const exited = new Promise<Exit>((resolve) => {
    nodeChildProcess.on('exit', (code, signal) => {
      // The watcher of the lifeline outlives its command: ended here, or it would stay as long as the supervisor.
      killGroup();
      resolve({ code, signal });
    });
  });
  return {
    pid,
    exited,
    closed: subprocess,
    send: (message) => void (nodeChildProcess.connected && nodeChildProcess.send(message, () => {})),
    signal: (name) => void nodeChildProcess.kill(name),
    killGroup,
  };
}

/** `starting` lasts until the process says that it serves, and again from a crash until its successor does. */
export type ChildState = 'starting' | 'ready' | 'stopping' | 'stopped';

/** A process that is kept alive. Times in milliseconds. */
export interface ChildSpec {
  name: string;
  /** Prepares and describes one start. */
  command: () => Command | Promise<Command>;
  /** Resolves when the process serves; before it ever did, `StartRefused` says that no further try can help. */
  whenReady: (running: Running, ended: AbortSignal) => Promise<void>;
  readyDeadline: number;
  /** Asks the process to end what it is doing and exit. */
  askToStop: (running: Running) => void;
  stopDeadline: number;
  restarts: RestartRules;
}

/** What happened to a child. */
export type ChildEvent =
  | { type: 'ready'; name: string; pid: number; milliseconds: number }
  | { type: 'crashed'; name: string; reason: string; wait: number; opened: boolean };

/** One process of the tree, started again whenever it dies before it was asked to stop. */
export class Child {
  readonly #spec: ChildSpec;
  readonly #onEvent: (event: ChildEvent) => void;
  readonly #restarts: Restarts;
  readonly #stop = new AbortController();
  readonly #firstReady = Promise.withResolvers<void>();
  #state: ChildState = 'stopped';
  #running: Running | undefined;
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

  /** The process that runs now, if one does. */
  get running(): Running | undefined {
    return this.#running;
  }

  /** Starts it; resolves when it is ready for the first time, throws when it gives up before that. */
  start(): Promise<void> {
    this.#state = 'starting';
    this.#life ??= this.#live();
    return this.#firstReady.promise;
  }

  /** Asks it to stop, waits for its deadline, then kills its group. Resolves when nothing of it is left. */
  async stop(): Promise<void> {
    if (this.#life === undefined) return;
    if (this.#state !== 'stopped') this.#state = 'stopping';
    this.#stop.abort();
    const running = this.#running;
    if (running !== undefined) {
      this.#spec.askToStop(running);
      await within(this.#spec.stopDeadline, running.exited);
      running.killGroup();
    }
    await this.#life;
  }

  /** Kills it at once, for a supervisor that was told twice to stop. */
  kill(): void {
    this.#stop.abort();
    this.#running?.killGroup();
  }

  async #live(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const reason = await this.#liveOnce();
      if (this.#stop.signal.aborted) break;
      const { wait, opened } = this.#restarts.crashed(performance.now(), this.#readySince);
      this.#state = 'starting';
      this.#onEvent({ type: 'crashed', name: this.#spec.name, reason, wait, opened });
      if (opened) this.#firstReady.reject(new StartRefused(`${this.#spec.name} does not start: ${reason}`));
      await pause(wait, undefined, { signal: this.#stop.signal }).catch(() => 'told to stop');
    }
    this.#state = 'stopped';
    this.#firstReady.reject(new StartRefused(`${this.#spec.name} was stopped before it was ready`));
  }

  /** One process from its start to its end. Answers why it ended. */
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
      return describe(await this.#running.exited);
    } catch (error) {
      this.#running?.killGroup();
      await this.#running?.exited;
      if (error instanceof StartRefused && !this.#wasReady) {
        this.#stop.abort();
        this.#firstReady.reject(error);
      }
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#running = undefined;
    }
  }

  async #untilReady(running: Running): Promise<void> {
    const ended = new AbortController();
    const exited = running.exited.then((exit) => {
      throw new Error(describe(exit));
    });
    const late = pause(this.#spec.readyDeadline, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`was not ready within ${this.#spec.readyDeadline} ms`);
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

/** Sends SIGKILL to a group. One that is gone is what was wanted; macOS says EPERM of one that is only a zombie. */
function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && ['ESRCH', 'EPERM'].includes(String(error.code)))) {
      throw error;
    }
  }
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = pause(milliseconds, undefined, { signal: timer.signal }).catch(() => 'in time');
  await Promise.race([work, late]);
  timer.abort();
}
