// Which requests somebody waits for just now, so that what can wait lets them pass.

/** Longer than most requests take, and short enough for uploads to get on beside a crowd that never ends. */
const patienceMilliseconds = 10;

/** Counts requests from their arrival to their answer. */
export class Traffic {
  /** Milliseconds since 1970. */
  readonly #now: () => number;
  #answering = 0;
  #latest = 0;
  #lull: Promise<void> | undefined;
  #endLull: () => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request came, at this time in milliseconds since 1970. */
  arrived(at: number): void {
    this.#answering++;
    this.#latest = at;
  }

  /** One of them is answered. */
  answered(): void {
    this.#answering--;
    if (this.#answering === 0) this.#endLull();
  }

  /**
   * Resolves when every request is answered, at the latest 10 ms after the newest came: one that takes long anyway holds
   * nobody up. Undefined when there is nothing to wait for.
   */
  lull(): Promise<void> | undefined {
    const left = this.#latest + patienceMilliseconds - this.#now();
    if (this.#answering === 0 || left <= 0) return undefined;
    this.#lull ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.#endLull(), Math.min(left, patienceMilliseconds));
      this.#endLull = () => {
        clearTimeout(timer);
        this.#lull = undefined;
        this.#endLull = () => undefined;
        // The answer itself is still on its way out.
        setImmediate(resolve);
      };
    });
    return this.#lull;
  }
}
