// One run of a job, in the app's runner.
import { ApiError } from '../../errors.ts';
import type { AppHooks } from '../app-hooks.ts';

/** Which run. */
export interface JobRunRequest {
  name: string;
  due: Date;
  requestId: string;
}

/** Runs it, starting a runner where there is none. What goes wrong is told in the app's log. */
export async function runJob(hooks: AppHooks, { name, due, requestId }: JobRunRequest): Promise<void> {
  try {
    // Other code by now: the schedule follows.
    if (!(await hooks.loadRegistrations()).jobs.some((job) => job.name === name)) return;
    const turn = hooks.slots.acquire();
    if (turn !== undefined) await turn;
    try {
      const result = await hooks.run({ requestId, depth: 0 }, (id) => ({
        type: 'cron',
        id,
        name,
        scheduled_at: due.toISOString(),
        request_id: requestId,
      }));
      if (result.outcome === 'failed') hooks.log.addFaults(result.faults, requestId);
    } finally {
      hooks.slots.release();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = `job "${name}": ${error.message}`;
    const file = hooks.registrations?.findFile(({ jobs }) => jobs.some((job) => job.name === name)) ?? null;
    hooks.log.add({ level: 'error', message, file, request_id: requestId });
  }
}
