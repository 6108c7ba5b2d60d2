// A custom route that is being run: its response comes as a head and, piece by piece, a body.
import type { CallFrame, InvocationResult, ResponseFrame } from '../../../hook-runner/protocol.ts';
import { ApiError } from '../../errors.ts';
import { channelLimits } from '../rpc/channel.ts';
import { ProtocolError } from '../rpc/frames.ts';
import { toBuffer } from '../rpc/inbound-values.ts';
import type { ChannelEnd, Invocation, InvocationFrame } from '../rpc/invocation.ts';
import { invocationError } from '../rpc/unary-invocation.ts';

/** The parts of a response, as they come. */
export interface ResponseSink {
  /** Once, and first, unless it fails before. */
  head(response: ResponseFrame): void;
  chunk(bytes: Buffer): void;
  end(): void;
  /** Instead of the rest. */
  fail(why: ApiError | RouteFailure): void;
}

/** The handler threw. */
export type RouteFailure = Extract<InvocationResult, { outcome: 'failed' | 'http_error' }>;

/** The invocation of a custom route. */
export class RouteRun implements Invocation {
  readonly deadline: number;
  readonly handleCall: (call: CallFrame) => Promise<unknown>;
  readonly #sink: ResponseSink;
  #hasHead = false;
  /** Bytes of the body that may still come before more are asked for. */
  #window: number = channelLimits.window_bytes;

  constructor(deadline: number, handleCall: (call: CallFrame) => Promise<unknown>, sink: ResponseSink) {
    this.deadline = deadline;
    this.handleCall = handleCall;
    this.#sink = sink;
  }

  /** So many bytes more have been asked for. */
  addCredit(bytes: number): void {
    this.#window += bytes;
  }

  take(message: InvocationFrame): boolean {
    switch (message.type) {
      case 'response':
        if (this.#hasHead) throw new ProtocolError('a second head of a response');
        this.#hasHead = true;
        this.#sink.head(message);
        if (message.end) this.#sink.end();
        return message.end;
      case 'chunk':
        if (!this.#hasHead) throw new ProtocolError('a body without a head');
        this.#takeChunk(toBuffer(message.body));
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
        throw new ProtocolError(`a ${message.type} in place of a response`);
    }
  }

  fail(end: ChannelEnd): void {
    this.#sink.fail(invocationError(end));
  }

  #takeChunk(bytes: Buffer): void {
    this.#window -= bytes.length;
    if (this.#window < 0) throw new ProtocolError('more of a body than was asked for');
    this.#sink.chunk(bytes);
  }
}
