// The remainder of a quota: when it is counted, and claims during a count.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Remainder, type RemainderOptions } from '../../../api/usage/remainder.ts';

const one = { min: 1, max: 1 };

/** Of a process that is alone. */
function roomOf(options: Pick<RemainderOptions, 'count'> & Partial<RemainderOptions>): Remainder {
  return new Remainder({ isAlone: true, workers: 1, worker: 0, leaks: false, now: () => 0, ...options });
}

it('counts a claim that is settled during a count as if it were open', async () => {
  const counted = Promise.withResolvers<number>();
  let counts = 0;
  const remainder = roomOf({ count: () => counts++ === 0 ? Promise.resolve(0) : counted.promise });
  const claim = await remainder.take(1, one);
  const next = remainder.take(1, one);
  await expect.poll(() => counts).toBe(2);
  claim?.settle(1);
  // As of before that.
  counted.resolve(0);
  expect(await next).toBeUndefined();
});

it('grants no claim during a count', async () => {
  const counted = Promise.withResolvers<number>();
  let counts = 0;
  const remainder = roomOf({ count: () => counts++ === 0 ? Promise.resolve(5) : counted.promise });
  const small = { min: 1, max: 5 };
  (await remainder.take(10, small))?.settle(0);
  const large = remainder.take(10, { min: 6, max: 6 });
  await expect.poll(() => counts).toBe(2);
  const other = remainder.take(10, small);
  counted.resolve(5);
  expect(await large).toBeUndefined();
  expect((await other)?.amount).toBe(5);
  expect(await remainder.take(10, small)).toBeUndefined();
});

it('counts again after five seconds where usage grows without a claim', async () => {
  const state = { stored: 0, time: 0 };
  const remainder = roomOf({
    leaks: true,
    now: () => state.time,
    count: () => Promise.resolve(state.stored),
  });
  expect((await remainder.take(10, one))?.amount).toBe(1);
  state.stored = 10;
  state.time = 5_000;
  expect((await remainder.take(10, one))?.amount).toBe(1);
  state.time = 5_001;
  expect(await remainder.take(10, one)).toBeUndefined();
});

it('of a large quota grants a thousandth before it counts, and counts again when a twentieth of what was left is claimed', async () => {
  const state = { counts: 0, time: 0 };
  const remainder = roomOf({
    leaks: true,
    now: () => state.time,
    count: () => Promise.resolve(state.counts++ * 0),
  });
  const take = (amount: number) => remainder.take(100_000, { min: amount, max: amount });
  await take(60);
  await take(40);
  expect(state.counts).toBe(0);
  await take(1);
  expect(state.counts).toBe(1);
  state.time = 3_600_000;
  await take(4_900);
  await take(1);
  expect(state.counts).toBe(1);
  await take(100);
  await take(1);
  expect(state.counts).toBe(2);
});

it('counts for a tenth of the time at most', async () => {
  const begun: number[] = [];
  const remainder = roomOf({
    now: () => performance.now(),
    count: async () => {
      begun.push(performance.now());
      await pause(20);
      return 1;
    },
  });
  for (let times = 0; times < 3; times++) expect(await remainder.take(1, one)).toBeUndefined();
  const waits = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  expect(Math.min(...waits)).toBeGreaterThan(180);
});

it('is not idle until every claim is settled', async () => {
  const remainder = roomOf({ count: () => Promise.resolve(0) });
  const counting = remainder.take(10, one);
  expect(remainder.isIdle).toBe(false);
  const claim = await counting;
  expect(remainder.isIdle).toBe(false);
  claim?.settle(1);
  expect(remainder.isIdle).toBe(true);
});
