// Work on the same keys, one after another.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { KeyedMutex } from '../../../storage/concurrency/keyed-mutex.ts';

/** Work that says when it begins, and ends when it is told to. */
function controlled(begun: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = () => {
    begun.push(name);
    return promise;
  };
  return { work, end: resolve };
}

it('does work on one key in the order in which it came, and work on others at once', async () => {
  const mutex = new KeyedMutex({ maxWaitMs: 60_000 });
  const begun: string[] = [];
  const [first, second, third, other] = ['first', 'second', 'third', 'other'].map((name) =>
    controlled(begun, name)
  );
  const all = [first, second, third].map((each) => mutex.run(['a'], each?.work ?? Promise.reject));
  all.push(mutex.run(['b'], other?.work ?? Promise.reject));
  await nextTurn();
  expect(begun).toEqual(['first', 'other']);
  first?.end();
  await nextTurn();
  expect(begun).toEqual(['first', 'other', 'second']);
  for (const each of [second, third, other]) each?.end();
  await Promise.all(all);
  expect(begun).toEqual(['first', 'other', 'second', 'third']);
});

it('never has two wait for each other, whichever order they name their keys in', async () => {
  const mutex = new KeyedMutex({ maxWaitMs: 60_000 });
  const done = await Promise.all([
    mutex.run(['a', 'b'], () => nextTurn('ab')),
    mutex.run(['b', 'a'], () => nextTurn('ba')),
    mutex.run(['a', 'a'], () => nextTurn('aa')),
  ]);
  expect(done).toEqual(['ab', 'ba', 'aa']);
});

it('goes on without a key that is not free in time, and locks it for nobody', async () => {
  const mutex = new KeyedMutex({ maxWaitMs: 10 });
  const begun: string[] = [];
  const slow = controlled(begun, 'slow');
  const held = mutex.run(['a'], slow.work);
  expect(await mutex.run(['a'], () => Promise.resolve('late'))).toBe('late');
  slow.end();
  await held;
  expect(await mutex.run(['a'], () => Promise.resolve('free'))).toBe('free');
});

it('frees its keys when the work fails', async () => {
  const mutex = new KeyedMutex({ maxWaitMs: 60_000 });
  await expect(mutex.run(['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await mutex.run(['a'], () => Promise.resolve(1))).toBe(1);
});
