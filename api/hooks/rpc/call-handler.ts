// Where the calls of one runner's hook code are answered: a few at a time, and so much an invocation.
import type { CallFrame, CallResult } from '../../../hook-runner/protocol.ts';
import type { Json } from '../../../hook-runner/calls.ts';
import { type ApiError, fail, toApiError } from '../../errors.ts';
import type { Invocation } from './invocation.ts';

interface DeskOptions {
  /** The invocation that a call belongs to, unless that is over. */
  find: (id: number) => Invocation | undefined;
  send: (result: CallResult) => void;
  /** Whether the runner has read enough of its answers to be given others. */
  hasRoom: () => boolean;
  /** Whether more may be read from the runner. */
  onFull: (isFull: boolean) => void;
  /** Hears of what no hook code is told. */
  report: (error: unknown) => void;
}

interface Budget {
  calls: number;
  answeredBytes: number;
}

const mostAtOnce = 8;
const mostWaitingBytes = 262_144;
const mostCalls = 100;
const mostAnsweredBytes = 2_097_152;

/** Answers calls. */
export class CallDesk {
  readonly #options: DeskOptions;
  readonly #budgets = new WeakMap<Invocation, Budget>();
  readonly #waiting: { call: CallFrame; bytes: number }[] = [];
  #waitingBytes = 0;
  #running = 0;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Takes a call of a frame of so many bytes. */
  take(call: CallFrame, bytes: number): void {
    this.#waiting.push({ call, bytes });
    this.#waitingBytes += bytes;
    this.goOn();
  }

  /** Does what a call waits for without counting the call: it may need this very runner, which must be read then. */
  async aside<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running--;
    this.goOn();
    try {
      return await work();
    } finally {
      this.#running++;
    }
  }

  /** Begins what can be begun: to be called when the runner has read what it was sent. */
  goOn(): void {
    while (this.#running < mostAtOnce && this.#options.hasRoom()) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#waitingBytes -= next.bytes;
      this.#running++;
      void this.#run(next.call);
    }
    this.#options.onFull(this.#waitingBytes > mostWaitingBytes);
  }

  async #run(call: CallFrame): Promise<void> {
    const { find, send, report } = this.#options;
    const { id } = call;
    try {
      send({ type: 'result', id, ok: true, value: await this.#answer(call, find(call.parent)) });
    } catch (error) {
      const refusal = toApiError(error);
      if (refusal.code === 'internal') report(error);
      send({ type: 'result', id, ok: false, error: shown(refusal) });
    } finally {
      this.#running--;
      this.goOn();
    }
  }

  async #answer(call: CallFrame, invocation: Invocation | undefined): Promise<Json> {
    if (invocation === undefined) fail('hook_error', 'the call that this belongs to is over');
    const budget = this.#budgetOf(invocation);
    if (++budget.calls > mostCalls) fail('hook_error', `more than ${mostCalls} calls of $app in one run`);
    const value = await invocation.answer(call) ?? null;
    budget.answeredBytes += Buffer.byteLength(JSON.stringify(value));
    if (budget.answeredBytes > mostAnsweredBytes) {
      fail('hook_error', `more than ${mostAnsweredBytes} bytes of answers of $app in one run`);
    }
    // What features answer is what they answer over HTTP, where it is JSON too.
    return value as Json;
  }

  #budgetOf(invocation: Invocation): Budget {
    const known = this.#budgets.get(invocation);
    if (known !== undefined) return known;
    const budget = { calls: 0, answeredBytes: 0 };
    this.#budgets.set(invocation, budget);
    return budget;
  }
}

function shown({ code, status, message }: ApiError): { code: string; status: number; message: string } {
  return { code, status, message };
}
