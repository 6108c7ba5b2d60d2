// One run of a job, in the app's runner.
import { ApiError, fail } from '../../errors.ts';
import type { AppHooks } from '../app-hooks.ts';
import { toFileFault } from '../files/faults.ts';
import type { FileFault } from '../ports.ts';
import { type JobResult, refused } from './result.ts';

/** Which run. */
export interface JobRunRequest {
  name: string;
  due: Date;
  requestId: string;
}

/** Throws `404 not_found` for a job that an app does not have. */
export function failNoJob(name: string): never {
  fail('not_found', `job ${JSON.stringify(name)} does not exist`);
}

/** Runs it, starting a runner where there is none. What goes wrong is told in the app's log, too. */
export async function runJob(hooks: AppHooks, run: JobRunRequest): Promise<JobResult> {
  const { name, requestId } = run;
  try {
    const { jobs } = await hooks.loadRegistrations();
    if (!jobs.some((job) => job.name === name)) failNoJob(name);
    const turn = hooks.slots.acquire();
    if (turn !== undefined) await turn;
    try {
      const began = performance.now();
      const errors = await callHandler(hooks, run);
      const duration_ms = Math.round(performance.now() - began);
      return { outcome: { name, status: errors.length === 0 ? 'done' : 'failed', duration_ms, errors } };
    } finally {
      hooks.slots.release();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Other code by now: the schedule follows.
    if (error.code !== 'not_found') hooks.log.addFaults([toFault(hooks, run, error)], requestId);
    return refused(error);
  }
}

/** Returns the faults of the handler. Throws `ApiError` when it was not called. */
async function callHandler(hooks: AppHooks, run: JobRunRequest): Promise<FileFault[]> {
  const { name, due, requestId } = run;
  try {
    const result = await hooks.run({ requestId, depth: 0 }, (id) => ({
      type: 'cron',
      id,
      name,
      scheduled_at: due.toISOString(),
      request_id: requestId,
    }));
    if (result.outcome !== 'failed') return [];
    hooks.log.addFaults(result.faults, requestId);
    return result.faults.map(toFileFault);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'hook_error') throw error;
    const fault = toFault(hooks, run, error);
    hooks.log.addFaults([fault], requestId);
    return [fault];
  }
}

function toFault({ registrations }: AppHooks, { name }: JobRunRequest, { message }: ApiError): FileFault {
  const file = registrations?.findFile(({ jobs }) => jobs.some((job) => job.name === name)) ?? '';
  return { file, message: `job "${name}": ${message}`, line: null, column: null };
}
