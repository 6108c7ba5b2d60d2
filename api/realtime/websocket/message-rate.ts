// How fast one client may talk.

/** A bucket of messages that refills. */
export interface MessageBounds {
  burst: number;
  perSecond: number;
  /** What a message costs that cannot be understood. */
  garbageCost: number;
}

/** Counts what one connection says. */
export class MessageRate {
  readonly #bounds: MessageBounds;
  #left: number;
  #at: number;

  constructor(bounds: MessageBounds, now: number) {
    this.#bounds = bounds;
    this.#left = bounds.burst;
    this.#at = now;
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
    const { burst, perSecond } = this.#bounds;
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1_000) - cost;
    this.#at = now;
    return this.#left >= 0;
  }
}
