// A process that has come to rest collects its garbage, once, and one that works does not.
import { expect, it } from 'vitest';
import { Rest } from '../../../api/process/collect-at-rest.ts';

/** Looks after each of these amounts of processor time in milliseconds; which looks collected. */
function looksThatCollect(spending: readonly number[], costOfCollection = 40): number[] {
  let spent = 0;
  const collected: number[] = [];
  let at = 0;
  const collect = () => {
    collected.push(at);
    spent += costOfCollection;
  };
  const rest = new Rest({ spent: () => spent, collect });
  for (const [index, milliseconds] of spending.entries()) {
    at = index;
    spent += milliseconds;
    rest.look();
  }
  return collected;
}

it('collects at the first look that finds it at rest, and not again before it has worked', () => {
  expect(looksThatCollect([4_000, 3_000, 20, 20, 20])).toEqual([2]);
  expect(looksThatCollect([4_000, 20, 20, 3_000, 20, 20])).toEqual([1, 4]);
});

it('does not collect while it works, nor for little work', () => {
  expect(looksThatCollect([4_000, 200, 101, 4_000])).toEqual([]);
  expect(looksThatCollect([1_500, 0, 0, 300, 0])).toEqual([]);
  expect(looksThatCollect([1_500, 0, 600, 0])).toEqual([3]);
});

it('does not take its own collection for work', () => {
  expect(looksThatCollect([3_000, 0, 0, 0, 0], 2_500)).toEqual([1]);
});
