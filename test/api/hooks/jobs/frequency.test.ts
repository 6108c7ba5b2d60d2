// Jobs that would run more often than policy permits.
import { Cron } from 'croner';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readMinGapSec } from '../../../../api/hooks/jobs/times.ts';
import { expectOk, ownWorkspace } from '../../../harness/api.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';
import { permitFrequentJobs } from '../../../harness/set-up.ts';

describe('the smallest time between two runs', () => {
  it.each([
    ['* * * * * *', 1],
    ['* * * * *', 60],
    ['0,59 * * * * *', 1],
    ['59 59 23 * * *', 86_400],
    ['0,50 0 3 * * *', 50],
    ['0 0,23 * * *', 3_600],
    ['*/7 * * * *', 240],
    ['5,55 */2 * * *', 3_000],
    ['@hourly', 3_600],
    ['@yearly', 86_400],
    ['none at all', Infinity],
  ])('by %j is %d s', async (expression, seconds) => {
    expect(await readMinGapSec(expression)).toBe(seconds);
  });

  it('is that between the times of two days', async () => {
    const part = (high: number) =>
      fc.oneof(
        fc.integer({ min: 2, max: high }).map((step) => `*/${step}`),
        fc.uniqueArray(fc.nat({ max: high }), { minLength: 1, maxLength: 2 }).map(String),
      );
    const expressions = fc.tuple(part(59), part(59), part(23)).map((parts) => `${parts.join(' ')} * * *`);
    await fc.assert(
      fc.asyncProperty(expressions, async (expression) => {
        const cron = new Cron(expression, { paused: true, timezone: 'UTC' });
        let [gap, last] = [Infinity, cron.nextRun(new Date('2026-01-01T00:00:00Z'))];
        while (last !== null && last < new Date('2026-01-03T00:00:00Z')) {
          const next = cron.nextRun(last);
          gap = Math.min(gap, ((next?.getTime() ?? Infinity) - last.getTime()) / 1_000);
          last = next;
        }
        expect(await readMinGapSec(expression)).toBe(gap);
      }),
      { numRuns: 20 },
    );
  });
});

describe('while nobody has set the policy', () => {
  let own: OwnHooks;
  beforeAll(async () => {
    own = await ownHooks();
  });
  afterAll(() => own.end());

  it('a job runs once a minute at most; what else its file registers is in effect', async () => {
    const source = `
      onRecordBeforeCreate('notes', () => {});
      cronAdd('often', '*/59 * * * * *', () => {});
      cronAdd('more', '* * * * * *', () => {});
      cronAdd('fine', '* * * * *', () => {});`;
    const hooks = await own.app('often', {
      'a.js': source,
      'b.js': `cronAdd('b', '7 * * * * *', () => {});`,
    });
    const message = 'job "often" never runs: its schedule "*/59 * * * * *" has times 1 s apart, ' +
      'and policy hooks.cron_min_sec is 60. The same is true of 1 more of its jobs';
    expect(await hooks.reload(true)).toEqual({
      loaded: ['a.js', 'b.js'],
      errors: [{ file: 'a.js', message, line: null, column: null }],
    });
    expect(hooks.registrations?.jobs.map(({ name }) => name)).toEqual(['fine', 'b']);
    expect(hooks.registrations?.findWriteEvents('notes', 'create')).toEqual({ before: 'before_create' });
    expect(hooks.log.entries).toMatchObject([{ level: 'error', file: 'a.js', message }]);
  });
});

it('a job follows the policy of its app, also when that changes', async () => {
  const own = await ownWorkspace();
  await permitFrequentJobs(own.master);
  const { path, admin } = await own.app();
  const jobs = async () =>
    expectOk(await admin.get(`${path}/hooks/status`)).jobs.map(({ name }: { name: string }) => name);
  const limit = (min: number) =>
    admin.put(`${path}/policies/hooks.cron_min_sec`, { kind: 'range', min, max: 86_400 });
  const source = `cronAdd('a', '*/10 * * * * *', () => {}); cronAdd('b', '@hourly', () => {});`;
  expect(expectOk(await admin.put(`${path}/hooks/a.js`, { source })).reload.errors).toEqual([]);
  expectOk(await limit(11));
  await vi.waitFor(async () => expect(await jobs()).toEqual(['b']), { timeout: 20_000 });
  const logged = expectOk(await admin.get(`${path}/hooks/logs`)).items;
  expect(logged[0].message).toContain(
    '"*/10 * * * * *" has times 10 s apart, and policy hooks.cron_min_sec is 11',
  );
  expectOk(await limit(10));
  await vi.waitFor(async () => expect(await jobs()).toEqual(['a', 'b']), { timeout: 20_000 });
});
