// A token bucket for each client address; what is over it is answered 429 with Retry-After.
import { fail } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import { type Bucket, type BucketLimits, tokensAt } from '../process/token-bucket.ts';

/** Takes a token for an address, or ends the request with `429 too_many_requests`. */
export type RateLimit = (ip: string, now: number) => void;

const maximalBuckets = 100_000;
const sweepMs = 1_000;

/** Buckets of `burst` tokens that refill with `per_second` a second; full ones are forgotten. */
export function rateLimit(options: { enabled: boolean; per_second: number; burst: number }): RateLimit {
  if (!options.enabled) return () => undefined;
  const { per_second: perSecond, burst } = options;
  const limits = { perSecond, burst };
  const buckets = new Map<string, Bucket>();
  let sweptAt = -Infinity;
  const makeRoom = (now: number) => {
    // Looking through all of them for each new address would be a gift to whoever has many.
    if (now - sweptAt >= sweepMs) {
      forgetFull(buckets, now, limits);
      sweptAt = now;
    }
    // All still in use: better to forget the oldest than to grow without bound.
    const [oldest] = buckets.keys();
    if (buckets.size >= maximalBuckets && oldest !== undefined) buckets.delete(oldest);
  };
  return (ip, now) => {
    const key = networkOf(ip);
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= maximalBuckets) makeRoom(now);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    bucket.tokens = tokensAt(now, bucket, limits);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return;
    }
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
    fail('too_many_requests', `more than ${perSecond} requests a second; wait ${seconds} s`, [
      ['Retry-After', String(seconds)],
    ]);
  };
}

function forgetFull(buckets: Map<string, Bucket>, now: number, limits: BucketLimits): void {
  for (const [key, bucket] of buckets) {
    if (tokensAt(now, bucket, limits) >= limits.burst) buckets.delete(key);
  }
}
