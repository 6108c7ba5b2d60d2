// Deadlocks: PostgreSQL ends one of the writes that wait for each other, and that one is tried again.
import { setTimeout as pause } from 'node:timers/promises';
import { StorageError } from '../../storage/errors.ts';
import { fail } from '../errors.ts';

/** PostgreSQL notices a deadlock after a second, so this is also about how many seconds a write may be held up. */
const maxTries = 5;
/** Lets the other write go on first: otherwise it may be overtaken, and they wait for each other again. */
const pauseMs = 10;

/**
 * Does work, which must have done nothing when it fails, until it ends without a deadlock. Throws `503 unavailable` after five
 * of them.
 */
export async function retryDeadlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'serialization') throw error;
      if (tries === maxTries) {
        fail('unavailable', 'other writes of the same records keep getting in the way; try again', [
          ['Retry-After', '1'],
        ]);
      }
      await pause(pauseMs * tries);
    }
  }
}
