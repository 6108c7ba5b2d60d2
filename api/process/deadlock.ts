// Deadlocks: when writes waited for each other, PostgreSQL ends one of them, and that one is tried again.
import { setTimeout as pause } from 'node:timers/promises';
import { StorageError } from '../../storage/errors.ts';
import { fail } from '../errors.ts';

/** PostgreSQL notices a deadlock after a second, so this is also about how many seconds a write may be held up. */
const maximalTries = 5;
/** Lets whoever was waited for go on first: it would be overtaken otherwise, and then they wait for each other again. */
const pauseMilliseconds = 10;

/**
 * Does work, which must have done nothing when it fails, until no other write gets in its way. Throws `503 unavailable` when
 * one does each time.
 */
export async function untilSettled<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'serialization') throw error;
      if (tries === maximalTries) {
        fail('unavailable', 'other writes of the same records keep getting in the way; try again', [
          ['Retry-After', '1'],
        ]);
      }
      await pause(pauseMilliseconds * tries);
    }
  }
}
