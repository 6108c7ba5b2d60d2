// A custom route that is being run: its answer comes as a head and, piece by piece, a body.
import type { CallFrame, InvocationResult, ResponseFrame } from '../../../hook-runner/protocol.ts';
import { ApiError } from '../../errors.ts';
import { channelLimits } from '../rpc/channel.ts';
import { ProtocolError } from '../rpc/frames.ts';
import { bufferOf } from '../rpc/inbound-values.ts';
import type { Answering, ChannelEnd, Invocation } from '../rpc/invocation.ts';
import { failureOf } from '../rpc/unary-invocation.ts';

/** What an answer is made of, as it comes. */
export interface CustomSink {
  /** Once, and first, unless it fails before. */
  head(response: ResponseFrame): void;
  chunk(bytes: Buffer): void;
  end(): void;
  /** Instead of the rest. */
  fail(why: ApiError | Failed): void;
}

/** The handler threw. */
export type Failed = Extract<InvocationResult, { outcome: 'failed' | 'http_error' }>;

/** The invocation of a custom route. */
export class CustomRun implements Invocation {
  readonly deadline: number;
  readonly answer: (call: CallFrame) => Promise<unknown>;
  readonly #sink: CustomSink;
  #hasHead = false;
  /** Bytes of the body that may still come before more are asked for. */
  #window: number = channelLimits.window_bytes;

  constructor(deadline: number, answer: (call: CallFrame) => Promise<unknown>, sink: CustomSink) {
    this.deadline = deadline;
    this.answer = answer;
    this.#sink = sink;
  }

  /** So many bytes more have been asked for. */
  credit(bytes: number): void {
    this.#window += bytes;
  }

  take(message: Answering): boolean {
    switch (message.type) {
      case 'response':
        if (this.#hasHead) throw new ProtocolError('a second head of an answer');
        this.#hasHead = true;
        this.#sink.head(message);
        if (message.end) this.#sink.end();
        return message.end;
      case 'chunk':
        if (!this.#hasHead) throw new ProtocolError('a body without a head');
        this.#takeChunk(bufferOf(message.body));
        return false;
      case 'end':
        if (!this.#hasHead) throw new ProtocolError('an end without a head');
        this.#sink.end();
        return true;
      case 'result':
        if (message.outcome !== 'failed' && message.outcome !== 'http_error') {
          throw new ProtocolError('a result that is none of a route');
        }
        this.#sink.fail(message);
        return true;
      case 'loading':
      case 'loaded':
        throw new ProtocolError(`a ${message.type} in place of an answer`);
    }
  }

  fail(end: ChannelEnd): void {
    this.#sink.fail(failureOf(end));
  }

  #takeChunk(bytes: Buffer): void {
    this.#window -= bytes.length;
    if (this.#window < 0) throw new ProtocolError('more of a body than was asked for');
    this.#sink.chunk(bytes);
  }
}
