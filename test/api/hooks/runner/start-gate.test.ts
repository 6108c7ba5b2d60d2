// Starts of runners, a few at once.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { StartGate } from '../../../../api/hooks/runner/start-gate.ts';

it('lets four start at once, the others in their order, and is not held by one that fails', async () => {
  const gate = new StartGate();
  const begun: number[] = [];
  const starts = Array.from({ length: 7 }, () => Promise.withResolvers<string>());
  const results = starts.map(({ promise }, index) =>
    gate.pass(() => {
      begun.push(index);
      return promise;
    }).catch((error: Error) => error.message)
  );
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3]);
  starts[2]?.reject(new Error('did not start'));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  starts[0]?.resolve('ready');
  starts[4]?.resolve('ready');
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const { resolve } of starts) resolve('ready');
  expect(await Promise.all(results)).toEqual([
    'ready',
    'ready',
    'did not start',
    'ready',
    'ready',
    'ready',
    'ready',
  ]);
  let later = 0;
  for (let start = 0; start < 7; start++) {
    void gate.pass(() => {
      later++;
      return Promise.withResolvers<void>().promise;
    });
  }
  await nextTurn();
  expect(later).toBe(4);
});
