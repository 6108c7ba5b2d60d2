// A token bucket for each client address; what is over it is answered 429 with Retry-After.
import { isIPv6 } from 'node:net';
import { fail } from '../errors.ts';
import { type Bucket, type BucketLimits, tokensBy } from '../token-bucket.ts';

/** Takes a token for an address, or ends the request with `429 too_many_requests`. */
export type RateLimit = (ip: string, now: number) => void;

const maximalBuckets = 100_000;
const sweepMilliseconds = 1_000;

/** Buckets of `burst` tokens that refill with `per_second` a second; full ones are forgotten. */
export function rateLimit(options: { enabled: boolean; per_second: number; burst: number }): RateLimit {
  if (!options.enabled) return () => undefined;
  const { per_second: perSecond, burst } = options;
  const limits = { perSecond, burst };
  const buckets = new Map<string, Bucket>();
  let sweptAt = -Infinity;
  const makeRoom = (now: number) => {
    // Looking through all of them for each new address would be a gift to whoever has many.
    if (now - sweptAt >= sweepMilliseconds) {
      forgetFull(buckets, now, limits);
      sweptAt = now;
    }
    // All still in use: better to forget the oldest than to grow without bound.
    const [oldest] = buckets.keys();
    if (buckets.size >= maximalBuckets && oldest !== undefined) buckets.delete(oldest);
  };
  return (ip, now) => {
    const key = bucketKey(ip);
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= maximalBuckets) makeRoom(now);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    bucket.tokens = tokensBy(now, bucket, limits);
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

/** An IPv6 customer holds a /64, so one address more must not be one bucket more. */
export function bucketKey(ip: string): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined
    ? []
    : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(':');
}

function forgetFull(buckets: Map<string, Bucket>, now: number, limits: BucketLimits): void {
  for (const [key, bucket] of buckets) {
    if (tokensBy(now, bucket, limits) >= limits.burst) buckets.delete(key);
  }
}
