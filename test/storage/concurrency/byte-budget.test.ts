// Bytes that are lent to several owners, each of which has a share.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ByteBudget } from '../../../storage/concurrency/byte-budget.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

function openBudget() {
  const budget = new ByteBudget({
    total: 100,
    share: 40,
    timeoutMs: 1_000,
    refuse: (owner) => new Error(`${owner} has waited`),
  });
  const admitted: string[] = [];
  const ask = (owner: string, bytes: number) =>
    budget.acquire(owner, bytes).then(
      () => admitted.push(`${owner} ${bytes}`),
      ({ message }) => admitted.push(message),
    );
  return { budget, admitted, ask };
}

it('lends an owner its share and no more, in the order in which it asks', async () => {
  const { budget, admitted, ask } = openBudget();
  void ask('a', 30);
  void ask('a', 20);
  void ask('a', 5);
  void ask('b', 40);
  await nextTurn();
  expect(admitted).toEqual(['a 30', 'b 40']);
  expect(budget.tryAcquire('a', 5)).toBe(false);
  budget.release('a', 30);
  await nextTurn();
  expect(admitted).toEqual(['a 30', 'b 40', 'a 20', 'a 5']);
  expect(budget.tryAcquire('a', 16)).toBe(false);
  expect(budget.tryAcquire('a', 15)).toBe(true);
});

it('lends next to the owner that holds least, and lets nobody pass it while all is lent', async () => {
  const { budget, admitted, ask } = openBudget();
  for (const [owner, bytes] of [['a', 40], ['b', 30], ['c', 20]] as const) void ask(owner, bytes);
  void ask('c', 20);
  void ask('d', 40);
  await nextTurn();
  admitted.length = 0;
  expect(budget.tryAcquire('b', 10)).toBe(false);
  budget.release('b', 10);
  await nextTurn();
  expect(admitted).toEqual([]);
  budget.release('a', 20);
  await nextTurn();
  expect(admitted).toEqual(['d 40']);
  budget.release('d', 40);
  await nextTurn();
  expect(admitted).toEqual(['d 40', 'c 20']);
});

it('refuses who has waited too long, and goes on with those behind', async () => {
  const { budget, admitted, ask } = openBudget();
  void ask('a', 30);
  void ask('a', 20);
  vi.advanceTimersByTime(500);
  void ask('a', 10);
  vi.advanceTimersByTime(500);
  await nextTurn();
  expect(admitted).toEqual(['a 30', 'a has waited', 'a 10']);
  vi.advanceTimersByTime(5_000);
  budget.release('a', 40);
  expect(budget.tryAcquire('a', 40)).toBe(true);
});
