// A pause in which a pool opens no further connection, because the server has refused it one.
import { StorageError, translate } from '../errors.ts';
import type { Client } from './client.ts';

/** The length of the pause, in milliseconds. */
const pauseMs = 1_000;

/** The pause of one pool. */
export class GrowthPause {
  /** By the monotonic clock, in milliseconds. */
  #pausedUntil = 0;

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /**
   * True for an error of a connection that the server refused before a statement was sent; begins the pause. The role
   * may have as many connections as its limit allows, or others may use all that the server has.
   */
  wasRefused(client: Client, error: unknown): boolean {
    if (client.isAdmitted) return false;
    const failure = translate(error);
    if (!(failure instanceof StorageError) || failure.failure !== 'unavailable') return false;
    this.#pausedUntil = performance.now() + pauseMs;
    return true;
  }
}
