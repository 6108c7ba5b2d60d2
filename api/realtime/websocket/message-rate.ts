// The rate limit of the messages of one WebSocket client.
import { type Bucket, type BucketLimits, tokensAt } from '../../process/token-bucket.ts';

/** The limits of the token bucket. */
export interface MessageBounds extends BucketLimits {
  /** Tokens for an invalid message. */
  garbageCost: number;
}

/** The token bucket of one connection. */
export class MessageRate {
  readonly #bounds: MessageBounds;
  #bucket: Bucket;

  constructor(bounds: MessageBounds, now: number) {
    this.#bounds = bounds;
    this.#bucket = { tokens: bounds.burst, at: now };
  }

  /** Takes a token for a message; false when none is left. */
  admit(now: number): boolean {
    return this.#take(1, now);
  }

  /** Takes the additional tokens of an invalid message; false when none is left. */
  admitGarbage(now: number): boolean {
    return this.#take(this.#bounds.garbageCost - 1, now);
  }

  #take(cost: number, now: number): boolean {
    this.#bucket = { tokens: tokensAt(now, this.#bucket, this.#bounds) - cost, at: now };
    return this.#bucket.tokens >= 0;
  }
}
