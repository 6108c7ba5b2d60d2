// A rate limiter: a token bucket that holds the tokens of one second.
import { type Bucket, tokensAt } from '../process/token-bucket.ts';

/** A limit on the requests in a second. */
export class RateLimiter {
  #rate = 0;
  #bucket: Bucket = { tokens: Number.POSITIVE_INFINITY, at: 0 };

  /** Takes a token of `rate` a second; false when there is none. `now` is in milliseconds. */
  take(rate: number, now: number): boolean {
    this.#rate = rate;
    const bucket = this.#bucket = { tokens: this.#tokens(now), at: now };
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  /** True when the bucket is full, and so no different from a new one. */
  isFull(now: number): boolean {
    return this.#tokens(now) >= this.#burst;
  }

  get #burst(): number {
    // A process whose share is below one token a second must be able to hold one.
    return this.#rate === 0 ? 0 : Math.max(1, this.#rate);
  }

  #tokens(now: number): number {
    return tokensAt(now, this.#bucket, { burst: this.#burst, perSecond: this.#rate });
  }
}
