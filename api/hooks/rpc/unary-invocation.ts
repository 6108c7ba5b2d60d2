// A unary invocation, which has one result: a record event or a job.
import type { CallFrame, InvocationResult } from '../../../hook-runner/protocol.ts';
import { ApiError } from '../../errors.ts';
import { ProtocolError } from './frames.ts';
import type { ChannelEnd, Invocation, InvocationFrame } from './invocation.ts';

/** An invocation that ends with its first message. */
export class UnaryInvocation implements Invocation {
  readonly deadline: number;
  readonly handleCall: (call: CallFrame) => Promise<unknown>;
  readonly #result = Promise.withResolvers<InvocationResult>();

  constructor(deadline: number, handleCall: (call: CallFrame) => Promise<unknown>) {
    this.deadline = deadline;
    this.handleCall = handleCall;
  }

  /** The result. Rejects with `500 hook_error` when there is none. */
  get result(): Promise<InvocationResult> {
    return this.#result.promise;
  }

  take(message: InvocationFrame): true {
    if (message.type !== 'result') throw new ProtocolError(`a ${message.type} in place of a result`);
    this.#result.resolve(message);
    return true;
  }

  fail(end: ChannelEnd): void {
    this.#result.reject(invocationError(end));
  }
}

const endMessages: Record<ChannelEnd, string> = {
  timeout: 'the hook did not finish in time',
  exited: 'the hook runner ended while the hook ran',
  protocol_error: 'the hook runner was stopped for breaking its protocol',
  not_reading: 'the hook runner was stopped because it no longer read',
  cpu: 'the hook runner was stopped for what it went on with before',
  memory: 'the hook runner was stopped because the hooks of the workspace used too much memory',
  closed: 'the hook runner was stopped while the hook ran',
};

/** The error that the caller of an invocation gets for its end. */
export function invocationError(end: ChannelEnd): ApiError {
  return new ApiError('hook_error', endMessages[end]);
}
