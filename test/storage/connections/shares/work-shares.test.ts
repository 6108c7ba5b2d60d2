// How many connections of a workspace work at once.
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { WorkShares } from '../../../../storage/connections/shares/work-shares.ts';

const all = 64;
const few = Math.max(2, availableParallelism());

function takeAll(shares: WorkShares, database: string): number {
  const { permits } = shares.of(database);
  let taken = 0;
  while (permits.tryTake()) taken++;
  for (let count = 0; count < taken; count++) permits.give();
  return taken;
}

function makeSlow(shares: WorkShares, database: string): void {
  shares.of(database).cost.add(1_000);
  shares.note(database);
}

it('is all of its share while it is alone, however slow its statements are', () => {
  const shares = new WorkShares(all);
  makeSlow(shares, 'a');
  expect(takeAll(shares, 'a')).toBe(all);
});

it('is as many as there are cores while its statements are slow and another works, and all of that other’s', () => {
  const shares = new WorkShares(all);
  makeSlow(shares, 'a');
  shares.note('b');
  expect(takeAll(shares, 'a')).toBe(few);
  expect(takeAll(shares, 'b')).toBe(all);
  shares.note('a');
  shares.note('a');
  expect(takeAll(shares, 'a')).toBe(few);
});

it('is all of it again for those who wait, once its statements are quick', async () => {
  const shares = new WorkShares(all);
  makeSlow(shares, 'a');
  shares.note('b');
  const { permits, cost } = shares.of('a');
  for (let count = 0; count < few; count++) expect(permits.tryTake()).toBe(true);
  const waiting = [permits.take(), permits.take(), permits.take()];
  for (let count = 0; count < 200; count++) cost.add(1);
  permits.give();
  await Promise.all(waiting);
  expect(takeAll(shares, 'b')).toBe(all);
});

it('is reported when slow statements keep others of their workspace waiting, once a minute', () => {
  const reported: string[] = [];
  const shares = new WorkShares(all, (database) => reported.push(database));
  makeSlow(shares, 'a');
  const { permits } = shares.of('a');
  for (let count = 0; count < all; count++) permits.tryTake();
  const waiting = [permits.take()];
  expect(reported).toEqual([]);
  shares.note('b');
  waiting.push(permits.take(), permits.take());
  expect(reported).toEqual(['a']);
  // More than were taken at first, since the first who waited give theirs back too.
  for (let count = 0; count < all + waiting.length; count++) permits.give();
  return Promise.all(waiting);
});
