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
  let now = 0;
  const cost = new StatementCost(() => now);
  const connection = {};
  // Sent at once, and each takes 2 ms.
  const sent = Array.from({ length: 20 }, () => Promise.withResolvers<void>());
  const measured = sent.map(({ promise }) => cost.measure(connection, () => promise));
  for (const [index, { resolve }] of sent.entries()) {
    now += 2;
    resolve();
    await measured[index];
  }
  expect(now).toBe(40);
  expect(cost.isSlow).toBe(false);
  await cost.measure(connection, () => Promise.resolve(now += 40));
  expect(cost.isSlow).toBe(true);
});
