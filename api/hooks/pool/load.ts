// Loading an app's code into a runner that is ready. The runner reports which file is under way, so that a load that ends or
// never ends can name it.
import type { CallFrame, LoadedFrame, LoadFrame } from '../../../hook-runner/protocol.ts';
import { ApiError } from '../../errors.ts';
import { type Channel, channelLimits } from '../rpc/channel.ts';
import { ProtocolError } from '../rpc/frames.ts';
import type { ChannelEnd, Invocation, InvocationFrame } from '../rpc/invocation.ts';
import { invocationError } from '../rpc/unary-invocation.ts';

/** The code did not load: it was too slow, or ended its runner. The message is for its author. */
export class LoadFailed extends Error {
  /** True when the code was running already. */
  readonly isOfCode: boolean;
  /** Names of the files whose top-level code was under way, as far as the runner said. */
  readonly files: readonly string[];

  constructor(message: string, { isOfCode, files = [] }: { isOfCode: boolean; files?: readonly string[] }) {
    super(message);
    this.name = 'LoadFailed';
    this.isOfCode = isOfCode;
    this.files = files;
  }
}

/** The code to load, and its limits. */
export interface CodeLoad {
  /** Without its id. */
  load: Omit<LoadFrame, 'type' | 'id' | 'limits'>;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  /** The time of the whole load; top-level code that waits for something has half of it. */
  timeoutMs: number;
  handleCall: (call: CallFrame) => Promise<unknown>;
}

/** Loads code, once for each runner. Throws `LoadFailed`, after which the channel has ended. */
export async function loadCode(channel: Channel, { load, deadline, timeoutMs, handleCall }: CodeLoad) {
  const invocation = new LoadInvocation(load.files.map(({ file }) => file), deadline, handleCall);
  const limits = { ...channelLimits, load_ms: Math.ceil(timeoutMs / 2) };
  try {
    channel.begin(invocation, (id) => ({ type: 'load', id, ...load, limits }));
    return await invocation.loaded;
  } catch (error) {
    // Top-level code has had its time; a runner that is stuck in it is of no use.
    channel.end('timeout', 'the hooks did not load in time');
    if (!(error instanceof ApiError)) throw error;
    throw new LoadFailed(error.message, { isOfCode: true, files: invocation.underWay });
  }
}

/** The invocation that loads an app's files. */
class LoadInvocation implements Invocation {
  readonly deadline: number;
  readonly handleCall: (call: CallFrame) => Promise<unknown>;
  readonly #files: ReadonlySet<string>;
  readonly #loaded = Promise.withResolvers<LoadedFrame>();
  #underWay: readonly string[] = [];

  constructor(files: readonly string[], deadline: number, handleCall: (call: CallFrame) => Promise<unknown>) {
    this.#files = new Set(files);
    this.deadline = deadline;
    this.handleCall = handleCall;
  }

  /** The registrations of the files. Rejects with `500 hook_error` when there are none. */
  get loaded(): Promise<LoadedFrame> {
    return this.#loaded.promise;
  }

  /** Names of the files whose top-level code the runner last reported to be under way. */
  get underWay(): readonly string[] {
    return this.#underWay;
  }

  take(message: InvocationFrame): boolean {
    if (message.type === 'loading') {
      if (!message.files.every((file) => this.#files.has(file))) throw new ProtocolError('an unknown file');
      this.#underWay = message.files;
      return false;
    }
    if (message.type !== 'loaded') throw new ProtocolError(`a ${message.type} in place of a loaded`);
    this.#loaded.resolve(message);
    return true;
  }

  fail(end: ChannelEnd): void {
    this.#loaded.reject(invocationError(end));
  }
}
