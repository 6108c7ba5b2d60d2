// How fast one client may talk.
import { type Bucket, type BucketLimits, tokensAt } from '../../process/token-bucket.ts';

/** A bucket of messages that refills. */
export interface MessageBounds extends BucketLimits {
  /** What a message costs that cannot be understood. */
  garbageCost: number;
}

/** Counts what one connection says. */
export class MessageRate {
  readonly #bounds: MessageBounds;
  #bucket: Bucket;

  constructor(bounds: MessageBounds, now: number) {
    this.#bounds = bounds;
    this.#bucket = { tokens: bounds.burst, at: now };
  }

  /** Takes one message's worth; false when the client has said too much. */
  admit(now: number): boolean {
    return this.#take(1, now);
  }

  /** Takes what garbage costs beyond the message itself. */
  admitGarbage(now: number): boolean {
    return this.#take(this.#bounds.garbageCost - 1, now);
  }

  #take(cost: number, now: number): boolean {
    this.#bucket = { tokens: tokensAt(now, this.#bucket, this.#bounds) - cost, at: now };
    return this.#bucket.tokens >= 0;
  }
}
