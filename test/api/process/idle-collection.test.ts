// A process that turns idle collects its garbage, once; one that works does not.
import { expect, it } from 'vitest';
import { IdleGarbageCollector } from '../../../api/process/idle-collection.ts';

/** Checks after each of these amounts of processor time in milliseconds. Returns the indexes of the checks that collected. */
function checksThatCollect(work: readonly number[], costOfCollection = 40): number[] {
  let spent = 0;
  const collected: number[] = [];
  let at = 0;
  const collect = () => {
    collected.push(at);
    spent += costOfCollection;
  };
  const collector = new IdleGarbageCollector({ cpuTimeMs: () => spent, collect });
  for (const [index, milliseconds] of work.entries()) {
    at = index;
    spent += milliseconds;
    collector.check();
  }
  return collected;
}

it('collects at the first check that finds it idle, and not again before it has worked', () => {
  expect(checksThatCollect([4_000, 3_000, 20, 20, 20])).toEqual([2]);
  expect(checksThatCollect([4_000, 20, 20, 3_000, 20, 20])).toEqual([1, 4]);
});

it('does not collect while it works, nor for little work', () => {
  expect(checksThatCollect([4_000, 200, 101, 4_000])).toEqual([]);
  expect(checksThatCollect([1_500, 0, 0, 300, 0])).toEqual([]);
  expect(checksThatCollect([1_500, 0, 600, 0])).toEqual([3]);
});

it('does not take its own collection for work', () => {
  expect(checksThatCollect([3_000, 0, 0, 0, 0], 2_500)).toEqual([1]);
});
