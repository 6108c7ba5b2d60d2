// Whether this process has other requests to answer than those of signing in.

/** Looked at this often: other work is noticed, and its end too, within so many milliseconds. */
const windowMilliseconds = 200;
/** Other requests a second from which on they are taken into account. */
const noticeable = 20;

/** Watches the rate of other requests. */
export class OtherWork {
  readonly #now: () => number;
  readonly #answered: () => number;
  #others = 0;
  #since: number;
  #goesOn = false;

  /** `now` in milliseconds; `answered` counts the other requests that were answered so far. */
  constructor({ now, answered }: { now: () => number; answered: () => number }) {
    this.#now = now;
    this.#answered = answered;
    this.#since = now();
  }

  /** Whether there was other work lately. */
  goesOn(): boolean {
    const elapsed = this.#now() - this.#since;
    if (elapsed < windowMilliseconds) return this.#goesOn;
    const others = this.#answered();
    this.#goesOn = (others - this.#others) * 1_000 / elapsed >= noticeable;
    this.#others = others;
    this.#since += elapsed;
    return this.#goesOn;
  }
}
