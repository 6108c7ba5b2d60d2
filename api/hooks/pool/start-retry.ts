// Starts that are retried while there is no room among the runners: one that was stopped to make it takes a moment to end, and
// those that start are not idle yet.
import { setTimeout as pause } from 'node:timers/promises';
import { RunnerRefused } from './host.ts';

const timeoutMs = 2_000;
const pauseMs = 25;

/** Does what `start` does as soon as it is not refused for want of room. Throws what `start` throws, `full` not before 2 s. */
export async function retryWhileFull<Started>(
  makeRoom: () => void,
  start: () => Promise<Started>,
): Promise<Started> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    makeRoom();
    try {
      return await start();
    } catch (error) {
      const isFull = error instanceof RunnerRefused && error.reason === 'full';
      if (!isFull || performance.now() >= until) throw error;
    }
    await pause(pauseMs);
  }
}
