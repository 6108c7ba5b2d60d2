// The bound on the work of one decision in memory.
import { expect, it } from 'vitest';
import type { Condition, Term } from '../../../../storage/app/filter/condition.ts';
import { compilePredicate } from '../../../../storage/app/filter/evaluate.ts';
import { WorkBudget } from '../../../../storage/app/filter/work-budget.ts';

const column = (name: string): Term => ({
  kind: 'column',
  level: 0,
  hops: [],
  column: name,
  type: 'text',
  path: [],
});
const equal: Condition = { kind: 'compare', operator: '=', left: column('left'), right: column('right') };
const stamp = '2026-01-02T03:04:05.678Z';
const request = { now: 0, auth: null, method: 'GET', query: {}, body: {} };

it.each([
  ['left', { left: 'x'.repeat(9_000_000), right: 'x' }],
  ['right', { left: 'x', right: 'x'.repeat(9_000_000) }],
])('comparisons pay for a long text on their %s, until nothing is left', (_side, fields) => {
  const decide = compilePredicate(equal);
  const budget = new WorkBudget();
  const record = { id: 'x', fields, created_at: stamp, updated_at: stamp };
  expect(decide({ record, budget }, request)).toBe(false);
  expect(() => decide({ record, budget }, request)).toThrow(
    'more than 16777216 characters to compare',
  );
  expect(decide({ record }, request)).toBe(false);
});
