// Room below a quota: when it is counted, and what a count makes of that which happens meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Remainder, type RemainderOptions } from '../../../api/usage/remainder.ts';

const one = { least: 1, most: 1 };

/** Of a process that is alone. */
function roomOf(options: Pick<RemainderOptions, 'count'> & Partial<RemainderOptions>): Remainder {
  return new Remainder({ isAlone: true, workers: 1, worker: 0, leaks: false, now: () => 0, ...options });
}

it('counts what ends while it counts as if it were there still', async () => {
  const counted = Promise.withResolvers<number>();
  let counts = 0;
  const room = roomOf({ count: () => counts++ === 0 ? Promise.resolve(0) : counted.promise });
  const claim = await room.take(1, one);
  const next = room.take(1, one);
  await expect.poll(() => counts).toBe(2);
  claim?.settle(1);
  // As of before that.
  counted.resolve(0);
  expect(await next).toBeUndefined();
});

it('hands out nothing while it counts, which would not be counted', async () => {
  const counted = Promise.withResolvers<number>();
  let counts = 0;
  const room = roomOf({ count: () => counts++ === 0 ? Promise.resolve(5) : counted.promise });
  const small = { least: 1, most: 5 };
  (await room.take(10, small))?.settle(0);
  const large = room.take(10, { least: 6, most: 6 });
  await expect.poll(() => counts).toBe(2);
  const other = room.take(10, small);
  counted.resolve(5);
  expect(await large).toBeUndefined();
  expect((await other)?.amount).toBe(5);
  expect(await room.take(10, small)).toBeUndefined();
});

it('counts again after five seconds where other things fill the room', async () => {
  const state = { stored: 0, time: 0 };
  const room = roomOf({ leaks: true, now: () => state.time, count: () => Promise.resolve(state.stored) });
  expect((await room.take(10, one))?.amount).toBe(1);
  state.stored = 10;
  state.time = 5_000;
  expect((await room.take(10, one))?.amount).toBe(1);
  state.time = 5_001;
  expect(await room.take(10, one)).toBeUndefined();
});

it('counts for a tenth of the time at most', async () => {
  const begun: number[] = [];
  const room = roomOf({
    now: () => performance.now(),
    count: async () => {
      begun.push(performance.now());
      await pause(20);
      return 1;
    },
  });
  for (let times = 0; times < 3; times++) expect(await room.take(1, one)).toBeUndefined();
  const waits = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  expect(Math.min(...waits)).toBeGreaterThan(180);
});

it('has something to lose until every claim is settled', async () => {
  const room = roomOf({ count: () => Promise.resolve(0) });
  const counting = room.take(10, one);
  expect(room.isIdle).toBe(false);
  const claim = await counting;
  expect(room.isIdle).toBe(false);
  claim?.settle(1);
  expect(room.isIdle).toBe(true);
});
