// So many requests a second, and no more: a bucket that holds one second's worth.

/** One bucket. */
export class Pacer {
  #rate = 0;
  #tokens = Number.POSITIVE_INFINITY;
  #at = 0;

  /** Whether one more may pass, of `rate` a second; `now` in milliseconds. */
  pass(rate: number, now: number): boolean {
    this.#rate = rate;
    this.#tokens = this.#filledBy(now);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Whether a new one would let pass no more. */
  isFull(now: number): boolean {
    return this.#filledBy(now) >= this.#most;
  }

  get #most(): number {
    // A process whose share is less than one lets one pass now and then.
    return this.#rate === 0 ? 0 : Math.max(1, this.#rate);
  }

  #filledBy(now: number): number {
    const elapsed = Math.max(0, now - this.#at);
    return Math.min(this.#most, this.#tokens + (elapsed * this.#rate) / 1_000);
  }
}
