// Runs work on large texts, which blocks the event loop, one piece at a time.
import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue } from '../../../storage/concurrency/fair-queue.ts';

/** The longest pause after a piece of work, which may have been slow for other reasons. */
const maxPauseMs = 1_000;

/** Resolves when it is the turn of a piece of work. The work is what the caller does before its next `await`. */
export type WaitForTurn = () => Promise<void>;

/** Resolves when it is the turn of a workspace, or of work for none. */
export type LargeBodyQueue = (workspace: string | undefined) => Promise<void>;

/**
 * Makes a queue in which workspaces take turns, so that one that sends a hundred large bodies does not delay all others. After
 * each piece the queue pauses for as long as the piece took, and until `lull`. Other requests need some ten rounds of the event
 * loop, and would otherwise wait for a piece in each of them.
 */
export function createLargeBodyQueue(
  lull: () => Promise<void> | undefined = () => undefined,
): LargeBodyQueue {
  const queue = new FairQueue({ slots: 1 });
  return (workspace) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async () => {
      resolve();
      await pauseAfterWork();
      await lull();
    };
    void queue.run(work, workspace);
    return promise;
  };
}

/** Called as the work begins, which goes on in this round of the event loop. */
async function pauseAfterWork(): Promise<void> {
  const startedAt = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  await pause(Math.min(performance.now() - startedAt, maxPauseMs));
}
