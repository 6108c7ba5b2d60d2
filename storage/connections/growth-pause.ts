// Whether a pool may have a further connection made, once the server has refused it one.
import { StorageError, translate } from '../errors.ts';
import type { Client } from './client.ts';

/** How long a pool does with the connections that it has. */
const pauseMs = 1_000;

/** What one pool knows of the connections that it tried to add. */
export class GrowthPause {
  /** By the monotonic clock, in milliseconds. */
  #pausedUntil = 0;

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /**
   * Hears of an error, and answers whether the server refused the connection before anything was asked on it, for which it may
   * have its reasons: no more than these for this role, or none left because of what others use it for.
   */
  wasRefused(client: Client, error: unknown): boolean {
    if (client.isAdmitted) return false;
    const failure = translate(error);
    if (!(failure instanceof StorageError) || failure.failure !== 'unavailable') return false;
    this.#pausedUntil = performance.now() + pauseMs;
    return true;
  }
}
