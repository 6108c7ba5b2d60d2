// Calls from hook code to the API, made on behalf of the invocation that is under way.
import { checkArguments, isPlainData } from './call-arguments.ts';
import type { CallTable } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import type { Invocations } from './invocations.ts';
import { serializeJson } from './json-text.ts';
import type { CallResult } from './protocol.ts';
import { encodeUtf8, OriginalPromise, parseJson, safeMap } from './untampered.ts';

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Made where the call was made. */
  error: AppError;
}

/** An answer of the API that is an error: `code` and `status` as in an answer over HTTP. */
export class AppError extends Error {
  override readonly name = 'AppError';
  status = 0;
  code = '';
}

/** Asks the API and hands its answers to who asked. */
export class ApiClient {
  readonly #channel: Pick<ApiChannel, 'sendText'>;
  readonly #invocations: Invocations;
  readonly #maxCallBytes: number;
  readonly #pending = safeMap<number, PendingCall>();
  #nextId = 1;

  /** `longestCall`: bytes of a call's frame. */
  constructor(channel: Pick<ApiChannel, 'sendText'>, invocations: Invocations, longestCall: number) {
    this.#channel = channel;
    this.#invocations = invocations;
    this.#maxCallBytes = longestCall;
  }

  /**
   * One call. Rejects with an `AppError` where the API says no, with a plain error where nothing was asked: outside of
   * a handler, after its end, or with what cannot be sent.
   */
  call<Method extends keyof CallTable>(
    method: Method,
    ...args: CallTable[Method]['args']
  ): Promise<CallTable[Method]['value']> {
    return new OriginalPromise((resolve, reject) => {
      const invocation = this.#invocations.current;
      if (invocation === undefined || invocation.ended) {
        throw new Error(
          `${method}: the call of the hook that this belongs to has ended; await what it starts`,
        );
      }
      checkArguments(method, args);
      const id = this.#nextId++;
      const call = new AppError('');
      const json = serializeJson(args, `an argument of ${method}`);
      if (!args.every(isPlainData)) checkArguments(method, parseJson(json) as readonly unknown[]);
      const text = `{"type":"call","id":${id},"parent":${invocation.id},"method":"${method}","args":${json}}`;
      if (text.length > this.#maxCallBytes || encodeUtf8(text).length > this.#maxCallBytes) {
        throw new RangeError(`${method}: its arguments exceed ${this.#maxCallBytes} bytes`);
      }
      this.#pending.set(id, { resolve, reject, error: call });
      invocation.onCancel((reason) => this.#take(id)?.reject(reason));
      this.#channel.sendText(text);
    });
  }

  /** An answer has come. One that nobody waits for any more is dropped. */
  settle(result: CallResult): void {
    const waiting = this.#take(result.id);
    if (waiting === undefined) return;
    if (result.ok) waiting.resolve(result.value);
    else waiting.reject(fillError(waiting.error, result.error));
  }

  #take(id: number): PendingCall | undefined {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    return waiting;
  }
}

/**
 * The error of a call that the API says no to. It knows where the call was made: when the answer comes, none of the author's
 * code is on the stack, and one whose `stack` was assigned loses it, and its class, when a module throws it.
 */
function fillError(
  call: AppError,
  { code, status, message }: Extract<CallResult, { ok: false }>['error'],
): AppError {
  call.code = code;
  call.status = status;
  call.message = message;
  return call;
}
