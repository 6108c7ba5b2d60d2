// The budget of connections that all tenant pools share.
import { StorageError } from './errors.ts';

/** Counts connections over several pools, so that their sum stays below the server's `max_connections`. */
export interface Permits {
  /** Somebody waits for a permit that nobody is about to give: whoever has a connection to spare should close it. */
  readonly wanted: boolean;
  /** Takes one at once, or says that there is none. */
  tryTake(): boolean;
  /** Takes one, waiting for a while. Throws `StorageError` `unavailable`. */
  take(): Promise<void>;
  /** Says that a permit will be given at once, as soon as a connection without work is closed. */
  promise(): void;
  give(options?: { promised: boolean }): void;
}

/** Permits without end, for a pool whose cap alone bounds it. */
export const unlimited: Permits = {
  wanted: false,
  tryTake: () => true,
  take: () => Promise.resolve(),
  promise: () => undefined,
  give: () => undefined,
};

/** A counting semaphore: first come, first served, and waiters give up after a while. */
export class PermitCount implements Permits {
  #free: number;
  #promised = 0;
  readonly #waitMilliseconds: number;
  readonly #reclaim: () => void;
  readonly #waiting = new Set<() => void>();

  /** `reclaim` is asked, for each waiter, to have one permit given back. */
  constructor(options: { count: number; waitMilliseconds: number; reclaim?: () => void }) {
    this.#free = options.count;
    this.#waitMilliseconds = options.waitMilliseconds;
    this.#reclaim = options.reclaim ?? (() => undefined);
  }

  get wanted(): boolean {
    return this.#waiting.size > this.#promised;
  }

  tryTake(): boolean {
    if (this.#free <= 0 || this.#waiting.size > 0) return false;
    this.#free--;
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
        reject(new StorageError('unavailable', 'all database connections are busy'));
      }, this.#waitMilliseconds);
      this.#waiting.add(admit);
      this.#reclaim();
    });
  }

  promise(): void {
    this.#promised++;
  }

  give({ promised } = { promised: false }): void {
    if (promised) this.#promised--;
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
