// The budget of connections that all tenant pools share.
import { NoPermit } from '../errors.ts';

/** Counts connections over several pools, so that their sum stays below the server's `max_connections`. */
export interface Permits {
  /**
   * True when somebody waits for a permit that is not about to be given. Who has a connection to spare should close it.
   */
  readonly wanted: boolean;
  /** The same, and it is time again to take a connection even from a pool that is about to need it. */
  readonly pressing: boolean;
  /** Takes one if there is one. */
  tryTake(): boolean;
  /** Takes one, waiting for a while. Throws `StorageError` `unavailable`. */
  take(): Promise<void>;
  /** Announces that a permit will be given as soon as a connection without work is closed. */
  promise(): void;
  give(options?: { promised: boolean }): void;
}

/** Unlimited permits, for a pool that only its cap bounds. */
export const unlimitedPermits: Permits = {
  wanted: false,
  pressing: false,
  tryTake: () => true,
  take: () => Promise.resolve(),
  promise: () => undefined,
  give: () => undefined,
};

/**
 * How long all keep their connections once one was taken away. If more tenants are active than there are connections,
 * each that opens one takes that of a tenant with work. Opening one costs as much as fifty reads.
 */
const restMs = 20;
/** All waiters get a connection within this time. So rests are shorter when there are many of them. */
const roundMs = 1_000;

/** A counting semaphore: first come, first served, and waiters give up after a while. */
export class PermitCount implements Permits {
  #taken = 0;
  readonly #count: () => number;
  #promised = 0;
  readonly #timeoutMs: number;
  readonly #reclaim: () => void;
  readonly #waiting = new Set<() => void>();
  /** The timer that calls `reclaim` again while somebody waits. */
  #again: NodeJS.Timeout | undefined;
  #isResting = false;

  /**
   * `count` is a function where it changes; what it has become takes effect with the next permit that is given or taken.
   * `reclaim` is called for each waiter, and again as long as somebody waits, to have one permit given back.
   */
  constructor(options: { count: number | (() => number); timeoutMs: number; reclaim?: () => void }) {
    const { count } = options;
    this.#count = typeof count === 'number' ? () => count : count;
    this.#timeoutMs = options.timeoutMs;
    this.#reclaim = options.reclaim ?? (() => undefined);
  }

  get wanted(): boolean {
    return this.#waiting.size > this.#promised;
  }

  get pressing(): boolean {
    return this.wanted && !this.#isResting;
  }

  tryTake(): boolean {
    if (this.#taken >= this.#count() || this.#waiting.size > 0) return false;
    this.#taken++;
    return true;
  }

  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(admit);
        reject(new NoPermit());
      }, this.#timeoutMs);
      this.#waiting.add(admit);
      this.#reclaim();
      this.#again ??= this.#later();
    });
  }

  promise(): void {
    this.#promised++;
    if (this.#waiting.size === 0) return;
    this.#isResting = true;
    clearTimeout(this.#again);
    this.#again = this.#later();
  }

  give({ promised } = { promised: false }): void {
    if (promised) this.#promised--;
    this.#taken--;
    for (const next of this.#waiting) {
      if (this.#taken >= this.#count()) return;
      this.#waiting.delete(next);
      this.#taken++;
      next();
    }
  }

  #later(): NodeJS.Timeout {
    const delay = Math.min(restMs, roundMs / this.#waiting.size);
    return setTimeout(() => {
      this.#again = undefined;
      this.#isResting = false;
      if (this.wanted) this.#reclaim();
      if (this.#waiting.size > 0) this.#again ??= this.#later();
    }, delay).unref();
  }
}
