// Work of which only some is under way at a time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turnstile } from '../../../storage/connections/semaphore.ts';

it('lets as many through at once as it says, the others in their order, and is not held by one that fails', async () => {
  const turnstile = new Turnstile(4);
  const begun: number[] = [];
  const ends = Array.from({ length: 7 }, () => Promise.withResolvers<string>());
  const outcomes = ends.map(({ promise }, index) =>
    turnstile.pass(() => {
      begun.push(index);
      return promise;
    }).catch((error: Error) => error.message)
  );
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.reject(new Error('no space'));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  ends[0]?.resolve('done');
  ends[4]?.resolve('done');
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const { resolve } of ends) resolve('done');
  expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'no space', 'done', 'done', 'done', 'done']);
  let later = 0;
  for (let work = 0; work < 7; work++) {
    void turnstile.pass(() => {
      later++;
      return Promise.withResolvers<void>().promise;
    });
  }
  await nextTurn();
  expect(later).toBe(4);
});

it('lets nobody in between two turns, at whichever moment somebody asks', async () => {
  for (let depth = 0; depth < 12; depth++) {
    const turnstile = new Turnstile(1);
    const end = Promise.withResolvers<void>();
    let atWork = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++atWork);
      await nextTurn();
      atWork--;
    };
    const first = turnstile.pass(() => end.promise);
    const second = turnstile.pass(work);
    const later = async () => {
      for (let step = 0; step < depth; step++) await undefined;
      await turnstile.pass(work);
    };
    end.resolve();
    await Promise.all([first, second, later()]);
    expect([depth, most]).toEqual([depth, 1]);
  }
});

it('has owners take turns, however much of one waits', async () => {
  const turnstile = new Turnstile(1);
  const end = Promise.withResolvers<void>();
  const done: string[] = [];
  const works = ['loud', 'loud', 'loud', 'loud', 'a', 'a', 'b'].map((owner) =>
    turnstile.pass(async () => {
      await end.promise;
      done.push(owner);
    }, owner)
  );
  end.resolve();
  await Promise.all(works);
  expect(done).toEqual(['loud', 'loud', 'a', 'b', 'loud', 'a', 'loud']);
});
