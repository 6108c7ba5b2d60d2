// Sweeps unused blobs every six hours, in the background of one process.
import { sweepBlobs } from '../../storage/blobs/sweep.ts';
import type { Deps } from '../deps.ts';

const firstMs = 10 * 60_000;
const intervalMs = 6 * 3_600_000;
/** The age from which an unused blob cannot belong to a running upload. */
const graceMs = 3_600_000;
const pauseMs = 20;

/** The background task. */
export interface Sweeping {
  /** Ends the task after the present step of its sweep. */
  close(): Promise<void>;
}

/** Starts the task. The first sweep begins ten minutes later. */
export function startSweeping(
  { databases, blobs, now, observe }: Pick<Deps, 'databases' | 'blobs' | 'now' | 'observe'>,
): Sweeping {
  const stop = new AbortController();
  const { signal } = stop;
  let sweep: Promise<void> = Promise.resolve();
  const options = { databases, blobs, now, graceMs, pauseMs, signal };
  const run = async () => {
    try {
      const removed = await sweepBlobs(options);
      if (removed > 0) observe({ type: 'blobs_swept', removed });
    } catch (error) {
      observe({ type: 'background_failed', task: 'sweep blobs', error: String(error) });
    }
    plan(intervalMs);
  };
  let timer: NodeJS.Timeout | undefined;
  const plan = (milliseconds: number) => {
    if (signal.aborted) return;
    timer = setTimeout(() => void (sweep = run()), milliseconds);
    timer.unref();
  };
  plan(firstMs);
  return {
    async close() {
      stop.abort();
      clearTimeout(timer);
      await sweep;
    },
  };
}
