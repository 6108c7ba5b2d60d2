// One runner with one state of an app's code: started, loaded, used, drained.
import type {
  CallFrame,
  InvocationResult,
  LoadedFrame,
  LoadFrame,
  LogFrame,
  ToRunner,
} from '../../../hook-runner/protocol.ts';
import type { FairQueue } from '../../../storage/concurrency/fair-queue.ts';
import { UnaryInvocation } from '../rpc/unary-invocation.ts';
import { Channel } from '../rpc/channel.ts';
import type { HostedRunner, RunnerOptions, RunnerUse, SupervisedRunners } from './host.ts';
import type { ChannelEnd, Invocation } from '../rpc/invocation.ts';
import { Registrations } from '../registrations.ts';
import { RequestIds } from '../rpc/request-ids.ts';
import { refuseFrequentJobs } from '../jobs/frequency.ts';
import { loadCode, LoadFailed } from './load.ts';
import type { RunLimits } from './run-limit.ts';

/** One run of a handler. */
export interface HandlerRun {
  requestId: string;
  /** How deep the write is that the code runs for; 0 for a route or a job. */
  depth: number;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
}

/** The context of a call of hook code. */
export interface CallContext extends HandlerRun {
  withoutSlot: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** A run that may have to end earlier than policy has it. */
export type RunRequest = Omit<HandlerRun, 'deadline'> & { deadline?: number | undefined };

/** The needs of a handler's run: a runner with the code loaded, and a deadline. */
export interface ReadyRunner {
  generation: Generation;
  timeoutMs: number;
}

/** The parts of a generation. */
export interface GenerationOptions {
  host: SupervisedRunners;
  starts: FairQueue;
  runner: Omit<RunnerOptions, 'onOutput' | 'onPaused' | 'onSpent'>;
  /** Without its id. */
  load: Omit<LoadFrame, 'type' | 'id' | 'limits'>;
  /** Tells apart what runners were given. */
  fingerprint: string;
  limits: Pick<RunLimits, 'timeoutMs' | 'cronMinSec'>;
  handleCall: (call: CallFrame, context: CallContext) => Promise<unknown>;
  onLog: (log: LogFrame, requestId: string | null) => void;
  onOutput: (text: string) => void;
  /** Called once, however it ended. */
  onEnd: (end: ChannelEnd, message: string) => void;
  report: (error: unknown) => void;
}

const readyTimeoutMs = 3_000;

/** A runner whose code is loaded. */
export class Generation {
  readonly number: number;
  readonly fingerprint: string;
  readonly loaded: LoadedFrame;
  readonly registrations: Registrations;
  readonly channel: Channel;
  /** In milliseconds of `performance.now()`. */
  usedAt = performance.now();
  readonly #options: GenerationOptions;
  readonly #runner: HostedRunner;
  readonly #requests: RequestIds;
  /** When the responses that stream on have begun, the oldest first, by the ids of their runs. */
  readonly #streams = new Map<number, number>();
  #isDraining = false;

  private constructor(
    options: GenerationOptions,
    parts: {
      runner: HostedRunner;
      channel: Channel;
      loaded: LoadedFrame;
      registrations: Registrations;
      requests: RequestIds;
    },
  ) {
    this.#options = options;
    this.#runner = parts.runner;
    this.#requests = parts.requests;
    this.channel = parts.channel;
    this.loaded = parts.loaded;
    this.number = options.load.generation;
    this.fingerprint = options.fingerprint;
    this.registrations = parts.registrations;
  }

  /** Starts a runner and loads the code. Throws `RunnerRefused`, and `LoadFailed` when the code is to blame. */
  static async open(options: GenerationOptions): Promise<Generation> {
    const started = await options.starts.run(() => start(options), options.runner.workspace);
    const { load, limits: { timeoutMs, cronMinSec }, handleCall } = options;
    const deadline = performance.now() + timeoutMs;
    const requestId = `load ${load.generation}`;
    const withoutSlot: CallContext['withoutSlot'] = (work) => started.channel.withoutSlot(work);
    const loaded = await loadCode(started.channel, {
      ...{ load, deadline, timeoutMs },
      handleCall: (call) => handleCall(call, { requestId, depth: 0, deadline, withoutSlot }),
    });
    const registrations = await refuseFrequentJobs(loaded.files, cronMinSec);
    return new Generation(options, { ...started, loaded, registrations });
  }

  /** True while it takes calls. */
  get isOpen(): boolean {
    return this.channel.isOpen && !this.#isDraining;
  }

  /** The limits of its process. */
  get memory_mb(): number {
    return this.#options.runner.memory_mb;
  }

  /** Runs a handler to its end. Throws `500 hook_error` when its time is up or its runner ends, and what `begin` throws. */
  async run(run: HandlerRun, write: (id: number) => ToRunner): Promise<InvocationResult> {
    const context = this.makeContext(run);
    const asked = new UnaryInvocation(run.deadline, (call) => this.#options.handleCall(call, context));
    try {
      this.begin(asked, run, write);
      return await asked.result;
    } finally {
      this.noteEnd();
    }
  }

  /** Begins something whose response may be several messages, `ended` being called after it. Throws `413 payload_too_large`. */
  begin(invocation: Invocation, { requestId, depth }: HandlerRun, write: (id: number) => ToRunner): number {
    this.usedAt = performance.now();
    return this.channel.begin(invocation, (id) => {
      this.#requests.add(id, requestId);
      return write(id);
    }, depth > 0);
  }

  /** A response begins to stream on. */
  beginStream(id: number): void {
    this.#streams.set(id, performance.now());
  }

  /** Since when the oldest response streams; undefined while there is none, or anything else is under way. */
  get streamingSince(): number | undefined {
    if (this.#streams.size < this.channel.inFlight) return undefined;
    const [oldest] = this.#streams.values();
    return oldest;
  }

  /** Something has ended, perhaps a stream. */
  noteEnd(id?: number): void {
    if (id !== undefined) this.#streams.delete(id);
    this.usedAt = performance.now();
    if (this.channel.inFlight > 0) return;
    if (this.#isDraining) this.close();
  }

  /** Does what hook code asks for. Throws `ApiError`. */
  handleCall(call: CallFrame, context: CallContext): Promise<unknown> {
    return this.#options.handleCall(call, context);
  }

  /** The context of this run's calls. */
  makeContext({ requestId, depth, deadline }: HandlerRun): CallContext {
    return { requestId, depth, deadline, withoutSlot: (work) => this.channel.withoutSlot(work) };
  }

  /** Takes nothing new, and closes when what is under way has ended. */
  drain(): void {
    this.#isDraining = true;
    if (this.channel.inFlight === 0) this.close();
  }

  /** Closes at once; what is under way fails. */
  close(): void {
    this.channel.end('closed', 'the hook runner was stopped');
  }

  /** See `HostedRunner`. */
  measure(): Promise<RunnerUse | undefined> {
    return this.#runner.measure();
  }

  /** How its process ended, once it has. */
  get exited(): HostedRunner['exited'] {
    return this.#runner.exited;
  }
}

/** A runner that is ready, and nothing loaded in it. */
interface Started {
  runner: HostedRunner;
  channel: Channel;
  requests: RequestIds;
}

/** Starts a process and waits until it is ready. Throws `RunnerRefused`, `LoadFailed`. */
async function start(options: GenerationOptions): Promise<Started> {
  const { host, onOutput, onLog, report } = options;
  const runner = await host.start({
    ...options.runner,
    onOutput,
    onPaused: (isPaused) => channel.setPaused(isPaused),
    onSpent: (share) => endSpent(channel, share),
  });
  const ready = Promise.withResolvers<void>();
  const requests = new RequestIds();
  const channel = new Channel({
    socket: runner.socket,
    onReady: ready.resolve,
    onLog: (log) => onLog(log, requests.find(log.parent)),
    report,
    onEnd: (end, message) => {
      if (end === 'closed') runner.stop();
      else if (end !== 'exited') runner.kill(end !== 'memory');
      ready.reject(new LoadFailed(message, { isOfCode: false }));
      options.onEnd(end, message);
    },
  });
  const late = setTimeout(
    () => channel.end('timeout', 'the hook runner did not start in time'),
    readyTimeoutMs,
  );
  await ready.promise.finally(() => clearTimeout(late));
  runner.ready();
  return { runner, channel, requests };
}

/** Of CPU time, what calls take is theirs: only what goes on without one ends the runner. */
function endSpent(channel: Channel, share: 'cpu' | 'memory'): void {
  if (share === 'memory') {
    channel.end('memory', 'the hooks of the workspace used too much memory, and this runner most of it');
  } else if (channel.inFlight === 0) {
    channel.end(
      'cpu',
      'the hook runner went on working while nothing was asked of it, and others needed the processor',
    );
  }
}
