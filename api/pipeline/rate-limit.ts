// Limits the requests of each client network, and of each API key, by a token bucket.
import { ApiError } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import { type Bucket, type BucketLimits, tokensAt } from '../process/token-bucket.ts';

/** Takes a token for an address. Returns 0, or the seconds until there is one. */
export type RateLimit = (ip: string, now: number) => number;

const maxBuckets = 100_000;
const sweepIntervalMs = 1_000;

/** Makes a limit of `burst` requests at once and `per_second` in the long run, for each key of an address. */
export function rateLimit(
  options: { enabled: boolean; per_second: number; burst: number },
  keyOf: (address: string) => string = networkOf,
): RateLimit {
  if (!options.enabled) return () => 0;
  const { per_second: perSecond, burst } = options;
  const limits = { perSecond, burst };
  const buckets = new Map<string, Bucket>();
  let sweptAt = -Infinity;
  const evict = (now: number) => {
    // A sweep for each new address would be slow for everybody, and one client can have many addresses.
    if (now - sweptAt >= sweepIntervalMs) {
      deleteFull(buckets, now, limits);
      sweptAt = now;
    }
    // When all are in use, the oldest is lost: memory stays bounded.
    const [oldest] = buckets.keys();
    if (buckets.size >= maxBuckets && oldest !== undefined) buckets.delete(oldest);
  };
  return (ip, now) => {
    const key = keyOf(ip);
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= maxBuckets) evict(now);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    bucket.tokens = tokensAt(now, bucket, limits);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
  };
}

/** The error of a request for which there is no token. */
export function rateLimitError(seconds: number): ApiError {
  return new ApiError('too_many_requests', `too many requests from this address; wait ${seconds} s`, [
    ['Retry-After', String(seconds)],
  ]);
}

/** Deletes full buckets, which are as good as none. */
function deleteFull(buckets: Map<string, Bucket>, now: number, limits: BucketLimits): void {
  for (const [key, bucket] of buckets) {
    if (tokensAt(now, bucket, limits) >= limits.burst) buckets.delete(key);
  }
}
