// Whether this process has other requests to answer than those that wait for a password.

/** Looked at this often: other work is noticed, and its end too, within so many milliseconds. */
const windowMilliseconds = 200;
/** Other requests a second from which on they are taken into account. */
const noticeable = 20;

/** Watches the rate of requests that needed no password. */
export class OtherWork {
  readonly #now: () => number;
  readonly #answered: () => number;
  #passwords = 0;
  #others = 0;
  #since: number;
  #goesOn = false;

  /** `now` in milliseconds; `answered` counts all requests that were answered so far. */
  constructor({ now, answered }: { now: () => number; answered: () => number }) {
    this.#now = now;
    this.#answered = answered;
    this.#since = now();
  }

  /** A request needed a password, which is checked or was turned away by now. */
  passwordDone(): void {
    this.#passwords++;
  }

  /** Whether there was other work lately. */
  goesOn(): boolean {
    const elapsed = this.#now() - this.#since;
    if (elapsed < windowMilliseconds) return this.#goesOn;
    const others = this.#answered() - this.#passwords;
    this.#goesOn = (others - this.#others) * 1_000 / elapsed >= noticeable;
    this.#others = others;
    this.#since += elapsed;
    return this.#goesOn;
  }
}
