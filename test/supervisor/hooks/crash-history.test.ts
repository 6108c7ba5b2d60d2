// How often runners of an app crashed, by a clock of the test's own.
import { beforeEach, expect, it } from 'vitest';
import { CrashHistory } from '../../../supervisor/hooks/crash-history.ts';

const shop = { workspace: 'acme', app: 'shop' };
let now: number;
let history: CrashHistory;
beforeEach(() => {
  now = 0;
  history = new CrashHistory(() => now);
});

const crash = (times: number, app = shop) => Array.from({ length: times }, () => history.crashed(app));

it('an app rests for half a minute after five crashes in a minute, and no other app does', () => {
  expect(crash(5)).toEqual([false, false, false, false, true]);
  expect([history.openMs(shop), history.openMs({ ...shop, app: 'blog' })]).toEqual([30_000, 0]);
  expect(history.crashed({ ...shop, workspace: 'other' })).toBe(false);
  now += 29_999;
  expect(history.openMs(shop)).toBe(1);
  now += 2;
  expect(history.openMs(shop)).toBe(0);
});

it('crashes of more than a minute ago do not count', () => {
  crash(4);
  now += 60_000;
  expect(crash(5)).toEqual([false, false, false, false, true]);
});

it('an app whose crashes are forgotten rests no longer, and may write no more than before', () => {
  crash(5);
  const budget = history.budgetOf(shop);
  history.clear(shop);
  expect(history.openMs(shop)).toBe(0);
  expect(crash(5)).toEqual([false, false, false, false, true]);
  expect(history.budgetOf(shop)).toBe(budget);
});

it('apps beyond 500 push out those whose crashes count no more, and no others', () => {
  crash(5);
  const budget = history.budgetOf(shop);
  now += 31_000;
  const early = { ...shop, app: 'early' };
  crash(4, early);
  now += 39_000;
  const late = { ...shop, app: 'late' };
  crash(5, late);
  now += 20_001;
  for (let other = 0; other < 500; other++) history.crashed({ ...shop, app: `a${other}` });
  expect(history.openMs(late)).toBe(9_999);
  expect(history.crashed(early)).toBe(true);
  expect(history.budgetOf(shop)).not.toBe(budget);
});
