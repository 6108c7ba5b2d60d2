// What runs in this process for the API: which invocation a piece of code belongs to, and when it is over.
import { AsyncLocalStorage } from 'node:async_hooks';
import { withoutPrototype } from './untampered.ts';

/** One thing the API asked for, until it is answered or no longer waited for. */
export class InvocationContext {
  readonly id: number;
  /** The file whose code runs for it now, as far as that is known. */
  file: string | null = null;
  /** Its place among those under way. */
  index = 0;
  #ended = false;
  #abort: AbortController | null = null;
  #onCancel: ((reason: Error) => void)[] = [];

  constructor(id: number) {
    this.id = id;
  }

  /** Whether nothing can be done in its name any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Aborted when the API cancels it. Made when it is first asked for: few handlers do. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Has `listener` called should the API cancel it. */
  onCancel(listener: (reason: Error) => void): void {
    this.#onCancel[this.#onCancel.length] = listener;
  }

  /** It is answered. */
  end(): void {
    this.#ended = true;
    this.#onCancel = [];
  }

  /** The API no longer waits. */
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
  /** No map: V8 copies one again and again while entries come and go, and may keep all copies until it collects old objects. */
  readonly #open: (InvocationContext | null)[] = withoutPrototype([]);
  #count = 0;

  /** The invocation that the running code belongs to, through awaits and timers; it may have ended. */
  get current(): InvocationContext | undefined {
    return this.#current.getStore();
  }

  /** Runs `work` as the invocation `id`, which ends with it. `fail` hears of what the work throws. */
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

  /** Whether none is under way. */
  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** The API no longer waits for the one with that id, however long it may go on. */
  cancel(id: number): void {
    for (let place = 0; place < this.#count; place++) {
      const invocation = this.#open[place];
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

  /** The last one takes its place. Does nothing for one that is not there any more. */
  #remove(invocation: InvocationContext): void {
    const { index: place } = invocation;
    if (this.#open[place] !== invocation) return;
    const last = this.#open[--this.#count];
    this.#open[this.#count] = null;
    if (last === undefined || last === null || last === invocation) return;
    last.index = place;
    this.#open[place] = last;
  }
}
