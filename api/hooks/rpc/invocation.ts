// Something that a runner was asked and has not finished, as its channel knows it.
import type { CallFrame, FromRunner } from '../../../hook-runner/protocol.ts';

/** Why a channel ended. */
export type ChannelEnd =
  | 'closed'
  | 'protocol_error'
  | 'timeout'
  | 'not_reading'
  | 'cpu'
  | 'memory'
  | 'exited';

/** The messages of an invocation. */
export type InvocationFrame = Extract<
  FromRunner,
  { type: 'loading' | 'loaded' | 'result' | 'response' | 'chunk' | 'end' }
>;

/** An invocation that is under way. */
export interface Invocation {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Takes a message; returns true if that was the last one. Throws `ProtocolError` for one that is out of place. */
  take(message: InvocationFrame): boolean;
  /** Nothing more comes: its own time is up, or the runner has ended. */
  fail(end: ChannelEnd): void;
  /** Does what its code asks for. Throws `ApiError`. */
  handleCall(call: CallFrame): Promise<unknown>;
}
