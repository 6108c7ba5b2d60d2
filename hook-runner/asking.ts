// The client of the API: sends the calls of hook code on behalf of the current invocation, and matches their results.
import { checkArguments, isPlainData } from './call-arguments.ts';
import type { ActingAs, CallError, CallTable } from './calls.ts';
import type { ApiChannel } from './channel.ts';
import type { Invocations } from './invocations.ts';
import { serializeJson } from './json-text.ts';
import type { CallResult } from './protocol.ts';
import { encodeUtf8, OriginalPromise, parseJson, safeMap, stringifyJson } from './untampered.ts';

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Created at the call, so that its stack names the author's code. */
  error: AppError;
}

/** An error response of the API. `code`, `status` and `errors` are those of an HTTP response. */
export class AppError extends Error {
  override readonly name = 'AppError';
  status = 0;
  code = '';
  errors: NonNullable<CallError['errors']> = [];
}

/** Makes one call: see `ApiClient`. */
export type MakeCall = <Method extends keyof CallTable>(
  method: Method,
  ...args: CallTable[Method]['args']
) => Promise<CallTable[Method]['value']>;

/** Sends calls to the API and settles their promises. */
export class ApiClient {
  readonly #channel: Pick<ApiChannel, 'sendText'>;
  readonly #invocations: Invocations;
  readonly #maxCallBytes: number;
  readonly #pending = safeMap<number, PendingCall>();
  #nextId = 1;

  /** `maxCallBytes` limits the frame of one call. */
  constructor(channel: Pick<ApiChannel, 'sendText'>, invocations: Invocations, maxCallBytes: number) {
    this.#channel = channel;
    this.#invocations = invocations;
    this.#maxCallBytes = maxCallBytes;
  }

  /**
   * Makes one call. Rejects with an `AppError` when the API responds with an error. Rejects with another error when the
   * call is not sent: outside of a handler, after the handler's end, or with arguments that JSON cannot represent.
   */
  readonly call: MakeCall = (method, ...args) => this.#call(method, args, '');

  /** Makes calls that act for a caller: of records, and of batches. */
  actingAs(caller: ActingAs): MakeCall {
    const member = `,"as":${stringifyJson(caller)}`;
    return (method, ...args) => this.#call(method, args, member);
  }

  #call<Method extends keyof CallTable>(
    method: Method,
    args: CallTable[Method]['args'],
    as: string,
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
      const text =
        `{"type":"call","id":${id},"parent":${invocation.id},"method":"${method}","args":${json}${as}}`;
      if (text.length > this.#maxCallBytes || encodeUtf8(text).length > this.#maxCallBytes) {
        throw new RangeError(`${method}: its arguments exceed ${this.#maxCallBytes} bytes`);
      }
      this.#pending.set(id, { resolve, reject, error: call });
      invocation.onCancel((reason) => this.#take(id)?.reject(reason));
      this.#channel.sendText(text);
    });
  }

  /** Settles the call that a result belongs to. A result of a cancelled call is dropped. */
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
 * Fills in the error of a call that failed. The error is created at the call because none of the author's code is on the
 * stack when the result arrives. An error whose `stack` is assigned loses it, and its class, when a module throws it.
 */
function fillError(
  call: AppError,
  { code, status, message, errors }: CallError,
): AppError {
  call.code = code;
  call.status = status;
  call.message = message;
  call.errors = errors ?? [];
  return call;
}
