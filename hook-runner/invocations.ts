// The invocations under way in this process: which one the running code belongs to, and when it has ended.
import { AsyncLocalStorage } from 'node:async_hooks';
import { withoutPrototype } from './untampered.ts';

/** One invocation by the API, until it has ended or was cancelled. */
export class InvocationContext {
  readonly id: number;
  /** The file whose code runs for it now; null when that is unknown. */
  file: string | null = null;
  /** Its index among the invocations under way. */
  index = 0;
  #ended = false;
  #abort: AbortController | null = null;
  #onCancel: ((reason: Error) => void)[] = [];

  constructor(id: number) {
    this.id = id;
  }

  /** True when its code can make no further calls. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Aborted when the API cancels the invocation. Created on first use, as few handlers use it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Calls `listener` when the API cancels the invocation. */
  onCancel(listener: (reason: Error) => void): void {
    this.#onCancel[this.#onCancel.length] = listener;
  }

  /** Ends the invocation after its result. */
  end(): void {
    this.#ended = true;
    this.#onCancel = [];
  }

  /** Ends the invocation without a result, as the API no longer waits for it. */
  cancel(): void {
    if (this.#ended) return;
    const listeners = this.#onCancel;
    this.end();
    const reason = new Error('cancelled: the server no longer waits for this call');
    for (let index = 0; index < listeners.length; index++) listeners[index]?.(reason);
    this.#abort?.abort(reason);
  }
}

/** The invocations under way. */
export class Invocations {
  readonly #current = new AsyncLocalStorage<InvocationContext>();
  /** Not a map: V8 copies it repeatedly while entries come and go, and may keep the copies until it collects old objects. */
  readonly #open: (InvocationContext | null)[] = withoutPrototype([]);
  #count = 0;

  /** The invocation that the running code belongs to, across awaits and timers. It may have ended. */
  get current(): InvocationContext | undefined {
    return this.#current.getStore();
  }

  /** Runs `work` as the invocation `id`, which ends with it. `fail` is called with what the work throws. */
  async run(
    id: number,
    work: (invocation: InvocationContext) => Promise<void>,
    fail: (invocation: InvocationContext, thrown: unknown) => void,
  ): Promise<void> {
    const invocation = new InvocationContext(id);
    this.#add(invocation);
    try {
      await this.#current.run(invocation, work, invocation);
    } catch (thrown) {
      fail(invocation, thrown);
    } finally {
      invocation.end();
      this.#remove(invocation);
    }
  }

  /** True when no invocation is under way. */
  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Cancels the invocation with that id, whose code may continue to run. */
  cancel(id: number): void {
    for (let index = 0; index < this.#count; index++) {
      const invocation = this.#open[index];
      if (invocation?.id !== id) continue;
      this.#remove(invocation);
      invocation.cancel();
      return;
    }
  }

  #add(invocation: InvocationContext): void {
    invocation.index = this.#count++;
    this.#open[invocation.index] = invocation;
  }

  /** Removes an invocation by moving the last one to its index. Does nothing when it was removed already. */
  #remove(invocation: InvocationContext): void {
    const { index } = invocation;
    if (this.#open[index] !== invocation) return;
    const last = this.#open[--this.#count];
    this.#open[this.#count] = null;
    if (last === undefined || last === null || last === invocation) return;
    last.index = index;
    this.#open[index] = last;
  }
}
