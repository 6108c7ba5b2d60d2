// Token buckets: a burst at once, and a rate in the long run.

/** The size of a bucket, and how fast it refills. */
export interface BucketLimits {
  burst: number;
  perSecond: number;
}

/** The tokens of a bucket at a moment, in milliseconds. */
export interface Bucket {
  tokens: number;
  at: number;
}

/** The tokens that a bucket has now. A clock that was set back removes none. */
export function tokensAt(now: number, { tokens, at }: Bucket, { burst, perSecond }: BucketLimits): number {
  return Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1_000);
}
