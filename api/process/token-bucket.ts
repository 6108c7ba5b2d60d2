// Token buckets: so much at once, and so much a second for long.

/** How full a bucket may be, and how fast it fills. */
export interface BucketLimits {
  burst: number;
  perSecond: number;
}

/** A bucket as it was at a moment, in milliseconds. */
export interface Bucket {
  tokens: number;
  at: number;
}

/** The tokens that are in a bucket by now. A clock that was set back takes none away. */
export function tokensAt(now: number, { tokens, at }: Bucket, { burst, perSecond }: BucketLimits): number {
  return Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1_000);
}
