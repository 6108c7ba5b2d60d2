// What many patterns in one long text cost in memory: the event loop waits for all of them.
import { expect, it } from 'vitest';
import { WorkBudget } from '../../../../../storage/app/filter/work-budget.ts';
import { matches } from '../../../../../storage/app/filter/operators/pattern.ts';

it('a text is made ready once for all patterns, whatever its letters are', () => {
  const text = 'ς'.repeat(1_000_000);
  const budget = new WorkBudget();
  const started = process.threadCpuUsage();
  for (let pattern = 0; pattern < 128; pattern++) expect(matches(text, `${pattern}Σ`, budget)).toBe(false);
  const { user, system } = process.threadCpuUsage(started);
  expect((user + system) / 1_000).toBeLessThan(1_500);
  expect(matches(text, 'Σσς', budget)).toBe(true);
  expect(matches(`${text}!`, 'Σ!', budget)).toBe(true);
});
