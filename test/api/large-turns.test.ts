// Turns of work that nothing can interrupt.
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLargeTurns } from '../../api/large-turns.ts';

const workMilliseconds = 40;

it('pieces of work leave each other’s time to others', async () => {
  const turns = createLargeTurns();
  const spans: { began: number; ended: number }[] = [];
  const work = async () => {
    await turns('acme');
    const began = performance.now();
    while (performance.now() - began < workMilliseconds);
    spans.push({ began, ended: performance.now() });
  };
  await Promise.all([work(), work(), work(), work()]);
  const rests = spans.slice(1).map(({ began }, index) => began - (spans[index]?.ended ?? 0));
  expect(rests).toHaveLength(3);
  for (const rest of rests) expect(rest).toBeGreaterThan(workMilliseconds * 0.9);
  await nextRound();
  const before = performance.now();
  await work();
  expect(spans.at(-1)?.began).toBeGreaterThan(before);
});

it('workspaces take turns, however much there is to do for one', async () => {
  const turns = createLargeTurns();
  const done: (string | undefined)[] = [];
  const asked = ['loud', 'loud', 'loud', 'loud', 'acme', undefined, 'acme'];
  await Promise.all(asked.map((workspace) => turns(workspace).then(() => done.push(workspace))));
  expect(done).toEqual(['loud', 'loud', 'acme', undefined, 'loud', 'acme', 'loud']);
});
