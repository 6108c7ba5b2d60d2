// So many requests a second, and no more: a bucket that holds one second's worth.

/** One bucket. */
export class Pacer {
  #tokens = Number.POSITIVE_INFINITY;
  #at = 0;

  /** Whether one more may pass, of `rate` a second; `now` in milliseconds. */
  pass(rate: number, now: number): boolean {
    // A process whose share is less than one lets one pass now and then.
    const most = rate === 0 ? 0 : Math.max(1, rate);
    const elapsed = Math.max(0, now - this.#at);
    this.#tokens = Math.min(most, this.#tokens + (elapsed * rate) / 1_000);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
