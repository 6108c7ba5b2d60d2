// Limits requests to so many a second: a token bucket that holds one second's worth.
import { type Bucket, tokensAt } from '../process/token-bucket.ts';

/** One bucket. */
export class RateLimiter {
  #rate = 0;
  #bucket: Bucket = { tokens: Number.POSITIVE_INFINITY, at: 0 };

  /** Whether one more may pass, of `rate` a second; `now` in milliseconds. */
  take(rate: number, now: number): boolean {
    this.#rate = rate;
    const bucket = this.#bucket = { tokens: this.#filledBy(now), at: now };
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
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
    return tokensAt(now, this.#bucket, { burst: this.#most, perSecond: this.#rate });
  }
}
