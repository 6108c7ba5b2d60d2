// Runs by hand that one process asks another for, whose responses may be late or lost.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ApiError } from '../../../../api/errors.ts';
import { type JobQuestion, PeerJobRunner, PeerRuns } from '../../../../api/hooks/jobs/peer-runs.ts';
import type { JobOutcome, JobRunner } from '../../../../api/hooks/ports.ts';
import type { AppDefinition } from '../../../../storage/definition.ts';

const times = { created_at: new Date(0), updated_at: new Date(0) };
const app: AppDefinition = {
  ...times,
  id: 'shop',
  name: 'Shop',
  schema: 'app_shop',
  workspace: { ...times, id: 'acme', name: 'Acme', database: 'ws_acme' },
  collections: new Map(),
};
const job = { name: 'nightly', requestId: 'test' };
const done: JobOutcome = { name: 'nightly', status: 'done', duration_ms: 1, errors: [] };

/** Asks a process that keeps this schedule, beside one that does not; the responses to some questions are lost. */
function asking(schedule: JobRunner, isLost: (asked: number) => boolean = () => false) {
  const runs = new PeerRuns(
    schedule,
    (workspace, id) => Promise.resolve(workspace === 'acme' && id === 'shop' ? app : undefined),
  );
  let asked = 0;
  const query = async (text: string) => {
    const question: JobQuestion = JSON.parse(text);
    const response = JSON.stringify(await runs.respond(question));
    return isLost(asked++) ? [] : ['null', response];
  };
  return { runner: new PeerJobRunner({ query }, randomUUID), asked: () => asked };
}

const idle = () => Promise.resolve();

it('a run that takes longer than a response may is run once, and waited for', async () => {
  const { promise, resolve } = Promise.withResolvers<JobOutcome>();
  let runs = 0;
  const run = () => {
    runs++;
    return promise;
  };
  const { runner, asked } = asking({ requireIdle: idle, run });
  const outcome = runner.run(app, job);
  await expect.poll(asked, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
  resolve(done);
  expect(await outcome).toEqual(done);
  expect(runs).toBe(1);
});

it('a result whose response is lost is asked for again', async () => {
  let runs = 0;
  const run = () => {
    runs++;
    return Promise.resolve(done);
  };
  const { runner } = asking({ requireIdle: idle, run }, (asked) => asked < 2);
  expect(await runner.run(app, job)).toEqual(done);
  expect(runs).toBe(1);
});

it('a run is given up when nobody knows of it any more', async () => {
  const never = () => new Promise<never>(() => {});
  const { runner } = asking({ requireIdle: never, run: never }, () => true);
  await expect(runner.run(app, job)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  await expect(runner.requireIdle(app, 'nightly')).rejects.toMatchObject({ code: 'unavailable' });
});

it('a refusal is the same as in the process that keeps the schedule', async () => {
  const busy = new ApiError('hook_busy', 'too many wait', [['Retry-After', '7']]);
  const refuse = () => Promise.reject(busy);
  const { runner } = asking({ requireIdle: refuse, run: refuse });
  const refusal = { code: 'hook_busy', message: 'too many wait', headers: [['Retry-After', '7']] };
  await expect(runner.requireIdle(app, 'nightly')).rejects.toMatchObject(refusal);
  await expect(runner.run(app, job)).rejects.toMatchObject(refusal);
  const gone = runner.run({ ...app, id: 'gone' }, job);
  await expect(gone).rejects.toMatchObject({ code: 'app_not_found', status: 404 });
});
