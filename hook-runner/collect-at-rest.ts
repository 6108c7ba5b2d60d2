// Collects garbage when the runner has come to rest: V8 would keep it for as long as nothing happens, and most runners of a
// server wait most of the time.

/** Milliseconds without a new invocation, and with none under way, that count as rest. */
const idleMs = 1_000;
/**
 * A collection comes after this many invocations. It takes some 10 ms, longer where hook code keeps much: less than the
 * invocations took, so nobody gains anything by causing it.
 */
const minInvocations = 1_000;

/** What it depends on. */
export interface IdleCollectorOptions {
  /** Whether no invocation is under way. */
  isIdle(): boolean;
  collect(): void;
  later(run: () => void, milliseconds: number): unknown;
}

/** Watches for rest. */
export class IdleCollector {
  readonly #options: IdleCollectorOptions;
  /** Since the last collection. The start leaves garbage too, so the first invocation, which loads the code, is enough. */
  #invocations = minInvocations - 1;

  constructor(parts: IdleCollectorOptions) {
    this.#options = parts;
  }

  /** An invocation begins. */
  noteInvocation(): void {
    if (++this.#invocations === minInvocations) this.#watch();
  }

  #watch(): void {
    const { isIdle: isIdle, collect, later } = this.#options;
    const seen = this.#invocations;
    later(() => {
      if (this.#invocations !== seen || !isIdle()) return this.#watch();
      this.#invocations = 0;
      collect();
    }, idleMs);
  }
}
