// Handles the `$app` calls of one runner's hook code: a few at a time, within a budget for each invocation.
import type { CallFrame, CallResult } from '../../../hook-runner/protocol.ts';
import type { Json } from '../../../hook-runner/calls.ts';
import { errorBody, fail, toApiError } from '../../errors.ts';
import type { Invocation } from './invocation.ts';

interface CallHandlerOptions {
  /** The invocation that a call belongs to, unless that is over. */
  findInvocation: (id: number) => Invocation | undefined;
  send: (result: CallResult) => void;
  /** True when the runner has read enough of its results to be sent more. */
  canSend: () => boolean;
  /** True when more may be read from the runner. */
  onFullChange: (isFull: boolean) => void;
  /** Hears of what no hook code is told. */
  report: (error: unknown) => void;
}

interface CallBudget {
  calls: number;
  resultBytes: number;
}

const maxAtOnce = 8;
const maxWaitingBytes = 262_144;
const maxCalls = 100;
const maxResultBytes = 2_097_152;

/** Handles the calls of one runner. */
export class CallHandler {
  readonly #options: CallHandlerOptions;
  readonly #budgets = new WeakMap<Invocation, CallBudget>();
  readonly #waiting: { call: CallFrame; bytes: number }[] = [];
  #waitingBytes = 0;
  #running = 0;

  constructor(options: CallHandlerOptions) {
    this.#options = options;
  }

  /** Takes a call of a frame of so many bytes. */
  handle(call: CallFrame, bytes: number): void {
    this.#waiting.push({ call, bytes });
    this.#waitingBytes += bytes;
    this.proceed();
  }

  /** Does what a call waits for without counting the call: it may need this very runner, which must be read then. */
  async withoutSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running--;
    this.proceed();
    try {
      return await work();
    } finally {
      this.#running++;
    }
  }

  /** Begins what can be begun: to be called when the runner has read what it was sent. */
  proceed(): void {
    while (this.#running < maxAtOnce && this.#options.canSend()) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#waitingBytes -= next.bytes;
      this.#running++;
      void this.#run(next.call);
    }
    this.#options.onFullChange(this.#waitingBytes > maxWaitingBytes);
  }

  async #run(call: CallFrame): Promise<void> {
    const { findInvocation, send, report } = this.#options;
    const { id } = call;
    try {
      send({
        type: 'result',
        id,
        ok: true,
        value: await this.#callFeature(call, findInvocation(call.parent)),
      });
    } catch (error) {
      const refusal = toApiError(error);
      if (refusal.code === 'internal') report(error);
      send({ type: 'result', id, ok: false, error: { ...errorBody(refusal), status: refusal.status } });
    } finally {
      this.#running--;
      this.proceed();
    }
  }

  async #callFeature(call: CallFrame, invocation: Invocation | undefined): Promise<Json> {
    if (invocation === undefined) fail('hook_error', 'the call that this belongs to is over');
    const budget = this.#findBudget(invocation);
    if (++budget.calls > maxCalls) fail('hook_error', `more than ${maxCalls} calls of $app in one run`);
    const value = await invocation.handleCall(call) ?? null;
    budget.resultBytes += Buffer.byteLength(JSON.stringify(value));
    if (budget.resultBytes > maxResultBytes) {
      fail('hook_error', `more than ${maxResultBytes} bytes of results of $app in one run`);
    }
    // Features return here what they return over HTTP, where it is JSON too.
    return value as Json;
  }

  #findBudget(invocation: Invocation): CallBudget {
    const known = this.#budgets.get(invocation);
    if (known !== undefined) return known;
    const budget = { calls: 0, resultBytes: 0 };
    this.#budgets.set(invocation, budget);
    return budget;
  }
}
