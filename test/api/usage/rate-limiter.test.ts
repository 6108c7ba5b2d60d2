// The rate limiter of the quota of requests.
import { expect, it } from 'vitest';
import { RateLimiter } from '../../../api/usage/rate-limiter.ts';

function passing(
  pacer: RateLimiter,
  { rate, now, tries = 50 }: { rate: number; now: number; tries?: number },
): number {
  return Array.from({ length: tries }, () => pacer.take(rate, now)).filter(Boolean).length;
}

it('grants the tokens of a second at once, and then more as time passes', () => {
  const pacer = new RateLimiter();
  expect(passing(pacer, { rate: 10, now: 5_000 })).toBe(10);
  expect(passing(pacer, { rate: 10, now: 5_300 })).toBe(3);
  expect(passing(pacer, { rate: 10, now: 99_000 })).toBe(10);
});

it('grants a token now and then at a rate below one, and none at 0', () => {
  const pacer = new RateLimiter();
  expect(passing(pacer, { rate: 0.5, now: 1_000 })).toBe(1);
  expect(passing(pacer, { rate: 0.5, now: 2_900 })).toBe(0);
  expect(passing(pacer, { rate: 0.5, now: 3_000 })).toBe(1);
  expect(passing(new RateLimiter(), { rate: 0, now: 1_000 })).toBe(0);
});

it('is full when it is no different from a new one', () => {
  const pacer = new RateLimiter();
  expect(pacer.isFull(0)).toBe(true);
  passing(pacer, { rate: 10, now: 1_000, tries: 4 });
  expect([pacer.isFull(1_000), pacer.isFull(1_399), pacer.isFull(1_400)]).toEqual([false, false, true]);
});
