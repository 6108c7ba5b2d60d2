// Collects garbage when the runner becomes idle. V8 does not collect while nothing is allocated, and most runners of a server
// are idle most of the time.

/** The runner is idle when no invocation has begun or been under way for so long. Milliseconds. */
const idleMs = 1_000;
/**
 * Invocations between two collections. A collection takes about 10 ms, longer when hook code keeps much; the invocations
 * took more, so a client cannot cause disproportionate work.
 */
const minInvocations = 1_000;

/** The dependencies of an `IdleCollector`. */
export interface IdleCollectorOptions {
  /** Returns true when no invocation is under way. */
  isIdle(): boolean;
  collect(): void;
  later(run: () => void, milliseconds: number): unknown;
}

/** Collects garbage once the runner is idle. */
export class IdleCollector {
  readonly #options: IdleCollectorOptions;
  /** Since the last collection. The first invocation, which loads the code, suffices, as the start leaves garbage too. */
  #invocations = minInvocations - 1;

  constructor(parts: IdleCollectorOptions) {
    this.#options = parts;
  }

  /** To be called when an invocation begins. */
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
