// Collects garbage when the runner has come to rest: V8 would keep it for as long as nothing happens, and most runners of a
// server wait most of the time.

/** Milliseconds without a new invocation, and with none under way, that count as rest. */
const rest = 1_000;
/**
 * A collection comes after this many invocations. It takes some 10 ms, longer where hook code keeps much: less than the
 * invocations took, so nobody gains anything by causing it.
 */
const worthIt = 1_000;

/** What it depends on. */
export interface RestParts {
  /** Whether no invocation is under way. */
  isIdle(): boolean;
  collect(): void;
  later(run: () => void, milliseconds: number): unknown;
}

/** Watches for rest. */
export class Rest {
  readonly #parts: RestParts;
  /** Since the last collection. The start leaves garbage too, so the first invocation, which loads the code, is enough. */
  #begun = worthIt - 1;

  constructor(parts: RestParts) {
    this.#parts = parts;
  }

  /** An invocation begins. */
  note(): void {
    if (++this.#begun === worthIt) this.#watch();
  }

  #watch(): void {
    const { isIdle, collect, later } = this.#parts;
    const seen = this.#begun;
    later(() => {
      if (this.#begun !== seen || !isIdle()) return this.#watch();
      this.#begun = 0;
      collect();
    }, rest);
  }
}
