// Work on large texts, which blocks the event loop: one such piece at a time.
import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue } from '../../../storage/concurrency/fair-queue.ts';

/** Nobody waits longer for what has held up everybody for other reasons. Milliseconds. */
const longestRest = 1_000;

/** Grants a turn; what is done before the next `await` counts as the work of it. */
export type WaitForTurn = () => Promise<void>;

/** Grants a turn to a workspace, or to what is of none. */
export type LargeBodyQueue = (workspace: string | undefined) => Promise<void>;

/**
 * Has pieces of work done one after another; workspaces take turns, or whoever sends a hundred large bodies would hold up all
 * others'. After each, others have the process for as long as it took: a request needs some ten rounds of the event loop, and
 * would have to wait for a piece in each of them.
 */
export function createLargeBodyQueue(): LargeBodyQueue {
  const queue = new FairQueue({ slots: 1 });
  return (workspace) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = () => {
      resolve();
      return restAfterwards();
    };
    void queue.run(work, workspace);
    return promise;
  };
}

/** Begins with the work, which goes on in this round of the event loop. */
async function restAfterwards(): Promise<void> {
  const began = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  await pause(Math.min(performance.now() - began, longestRest));
}
