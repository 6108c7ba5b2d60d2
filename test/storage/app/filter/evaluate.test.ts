// What only records in memory can be: PostgreSQL has one spelling of an id, a hook that makes a record up has many; and a record
// that was announced lacks the fields that came after it.
import { expect, it } from 'vitest';
import type { Condition, Term } from '../../../../storage/app/filter/condition.ts';
import { compilePredicate } from '../../../../storage/app/filter/evaluate.ts';

const stamp = '2026-01-02T03:04:05.678Z';
const request = { now: 0, auth: null, method: 'GET', query: {}, body: {} };

it('an id is the same however a record spells it', () => {
  const id = '0198a2b4-1111-7222-8333-abcdefabcdef';
  const condition: Condition = {
    kind: 'compare',
    operator: '=',
    left: { kind: 'column', level: 0, hops: [], column: 'owner', type: 'uuid', path: [] },
    right: { kind: 'value', type: 'uuid', value: id },
  };
  const record = { id: 'x', fields: { owner: id.toUpperCase() }, created_at: stamp, updated_at: stamp };
  expect(compilePredicate(condition)({ record }, request)).toBe(true);
});

it('a field that a record does not have is empty, whatever its name', () => {
  const term: Term = { kind: 'column', level: 0, hops: [], column: 'constructor', type: 'json', path: [] };
  const record = { id: 'x', fields: {}, created_at: stamp, updated_at: stamp };
  expect(compilePredicate({ kind: 'empty', term })({ record }, request)).toBe(true);
});
