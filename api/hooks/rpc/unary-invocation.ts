// A unary invocation, which has one answer: a load, a record event, a job.
import type { CallFrame, InvocationResult, LoadedFrame } from '../../../hook-runner/protocol.ts';
import { ApiError } from '../../errors.ts';
import { ProtocolError } from './frames.ts';
import type { Answering, ChannelEnd, Invocation } from './invocation.ts';

type Answer = InvocationResult | LoadedFrame;

/** Waits for the answer of the type that it was made for. */
export class UnaryInvocation<Type extends Answer['type']> implements Invocation {
  readonly deadline: number;
  readonly answer: (call: CallFrame) => Promise<unknown>;
  readonly #type: Type;
  readonly #settled = Promise.withResolvers<Extract<Answer, { type: Type }>>();

  constructor(type: Type, deadline: number, answer: (call: CallFrame) => Promise<unknown>) {
    this.#type = type;
    this.deadline = deadline;
    this.answer = answer;
  }

  /** The answer. Rejects with what `failureOf` makes of the end. */
  get settled(): Promise<Extract<Answer, { type: Type }>> {
    return this.#settled.promise;
  }

  take(message: Answering): true {
    if (!this.#isMine(message)) throw new ProtocolError(`a ${message.type} in place of a ${this.#type}`);
    this.#settled.resolve(message);
    return true;
  }

  fail(end: ChannelEnd): void {
    this.#settled.reject(failureOf(end));
  }

  #isMine(message: Answering): message is Extract<Answer, { type: Type }> {
    return message.type === this.#type;
  }
}

const endings: Record<ChannelEnd, string> = {
  timeout: 'the hook did not finish in time',
  exited: 'the hook runner ended while the hook ran',
  protocol_error: 'the hook runner was stopped for breaking its protocol',
  not_reading: 'the hook runner was stopped because it no longer read',
  cpu: 'the hook runner was stopped for what it went on with before',
  closed: 'the hook runner was stopped while the hook ran',
};

/** What the caller of an invocation is told of its end. */
export function failureOf(end: ChannelEnd): ApiError {
  return new ApiError('hook_error', endings[end]);
}
