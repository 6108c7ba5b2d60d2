// Uploads one after the other.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { WriteTurns } from '../../../storage/blobs/write-turns.ts';

it('lets one work at a time, in the order of asking, and the next after one that fails', async () => {
  const turns = new WriteTurns(() => undefined);
  const began: number[] = [];
  const ends = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const works = ends.map(({ promise }, index) =>
    turns.take(async () => {
      began.push(index);
      await promise;
      return index;
    })
  );
  const outcomes = Promise.allSettled(works);
  await nextTurn();
  expect(began).toEqual([0]);
  ends[0]?.reject(new Error('no space'));
  await expect(works[0]).rejects.toThrow('no space');
  await nextTurn();
  expect(began).toEqual([0, 1]);
  ends[2]?.resolve();
  ends[1]?.resolve();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(await turns.take(async () => 'again')).toBe('again');
});

it('begins no work before others have been let pass', async () => {
  const others = Promise.withResolvers<void>();
  const turns = new WriteTurns(() => others.promise);
  let hasBegun = false;
  const done = turns.take(async () => {
    hasBegun = true;
  });
  await nextTurn();
  expect(hasBegun).toBe(false);
  others.resolve();
  await done;
  expect(hasBegun).toBe(true);
});

it('lets nobody in between two turns, at whichever moment somebody asks', async () => {
  for (let depth = 0; depth < 12; depth++) {
    const turns = new WriteTurns(() => undefined);
    const end = Promise.withResolvers<void>();
    let atWork = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++atWork);
      await nextTurn();
      atWork--;
    };
    const first = turns.take(() => end.promise);
    const second = turns.take(work);
    const later = async () => {
      for (let step = 0; step < depth; step++) await undefined;
      await turns.take(work);
    };
    end.resolve();
    await Promise.all([first, second, later()]);
    expect([depth, most]).toEqual([depth, 1]);
  }
});
