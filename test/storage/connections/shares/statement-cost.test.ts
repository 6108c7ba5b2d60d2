// Which statements of a workspace count as slow.
import { expect, it } from 'vitest';
import { StatementCost } from '../../../../storage/connections/shares/statement-cost.ts';

it('are slow when most of the time goes to long ones, however many short ones there are', () => {
  const cost = new StatementCost();
  for (let count = 0; count < 100; count++) cost.add(2);
  expect(cost.isSlow).toBe(false);
  cost.add(300);
  for (let count = 0; count < 20; count++) cost.add(2);
  expect(cost.isSlow).toBe(true);
  for (let count = 0; count < 100; count++) cost.add(2);
  expect(cost.isSlow).toBe(false);
});

it('are not slow by the time that they wait behind others on their connection', async () => {
  const cost = new StatementCost();
  const connection = {};
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const statements = [
    cost.measure(connection, () => first.promise),
    cost.measure(connection, () => second.promise),
  ];
  // The first one takes long; the second is done right after it, though it was sent long before.
  const until = performance.now() + 30;
  while (performance.now() < until);
  first.resolve();
  await statements[0];
  second.resolve();
  await statements[1];
  expect(cost.isSlow).toBe(true);
  for (let count = 0; count < 40; count++) await cost.measure(connection, () => Promise.resolve());
  expect(cost.isSlow).toBe(false);
});
