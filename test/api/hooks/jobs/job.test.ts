// When a job is begun, on a clock that the test may set.
import { expect, it, vi } from 'vitest';
import { CronJob } from '../../../../api/hooks/jobs/job.ts';
import { CronTimes } from '../../../../api/hooks/jobs/times.ts';

/** The first two times, or a few more, at which a job of every second is begun, whose clock is set once it waits. */
async function beginnings(clock: { ahead: number; thenAhead: number }): Promise<number[]> {
  let { ahead } = clock;
  const due: number[] = [];
  const job = new CronJob({
    now: () => new Date(Date.now() + ahead),
    run: async (time) => void due.push(time.getTime()),
    onOverlap: () => {},
  });
  try {
    job.reschedule('* * * * * *', await new CronTimes().loadParser());
    ahead = clock.thenAhead;
    await vi.waitFor(() => expect(due.length).toBeGreaterThanOrEqual(2), { timeout: 5_000, interval: 20 });
    return due;
  } finally {
    job.stop();
  }
}

it('does not make up for what it missed while the machine slept', async () => {
  const hour = 3_600_000;
  const woke = Date.now() + hour;
  const due = await beginnings({ ahead: 0, thenAhead: hour });
  expect(due.every((time) => time >= woke - 1_000)).toBe(true);
  expect(due[1]).toBe((due[0] ?? 0) + 1_000);
});

it('misses nothing that was due after the machine slept, however late its timers are', async () => {
  vi.useFakeTimers();
  try {
    const due = new Date(Date.now() + 3_000_000);
    let asleep = 0;
    const begun: number[] = [];
    const now = () => new Date(Date.now() + asleep);
    const job = new CronJob({ now, run: async () => void begun.push(now().getTime()), onOverlap: () => {} });
    job.reschedule('at that time', () => (after) => after < due ? due : null);
    asleep = 2_000_000;
    await vi.advanceTimersByTimeAsync(1_000_000 + 10_000);
    expect(begun).toHaveLength(1);
    expect((begun[0] ?? 0) - due.getTime()).toBeLessThanOrEqual(10_000);
  } finally {
    vi.useRealTimers();
  }
});

it('is due by the clock as it is once that was set back', async () => {
  const due = await beginnings({ ahead: 366 * 86_400_000, thenAhead: 0 });
  expect(due.every((time) => time <= Date.now())).toBe(true);
});

it('is due in UTC, on days that either field of two names', async () => {
  const read = await new CronTimes().loadParser();
  const times = (expression: string, count: number) => {
    const next = read(expression);
    const found: string[] = [];
    let after: Date | null = new Date('2026-03-28T23:30:00Z');
    while (found.length < count && after !== null) {
      after = next(after);
      if (after !== null) found.push(after.toISOString());
    }
    return found;
  };
  // No hour of the night is skipped or comes twice, wherever the server stands.
  expect(times('30 2 * * *', 2)).toEqual(['2026-03-29T02:30:00.000Z', '2026-03-30T02:30:00.000Z']);
  expect(times('0 0 1 * MON', 3)).toEqual([
    '2026-03-30T00:00:00.000Z',
    '2026-04-01T00:00:00.000Z',
    '2026-04-06T00:00:00.000Z',
  ]);
});
