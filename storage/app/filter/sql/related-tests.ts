// Which tests of a residue look at a related record, and which of them a single look answers.
import { type ColumnTerm, isColumn } from '../condition.ts';
import type { Reduced, Residue, Test } from '../fold.ts';
import { operators } from '../operators/operators.ts';

/** A test of one related record, and the only column in it that is not the filtered record's own. */
export interface RelatedTest {
  test: Test;
  column: ColumnTerm;
}

/** Tests of one related record that all pass, or all fail, where there is none. */
export interface RelatedTests {
  kind: 'related';
  /** How they are tied to each other. */
  glue: 'and' | 'or';
  passWithoutRecord: boolean;
  tests: [RelatedTest, ...RelatedTest[]];
}

/** A residue whose looks at related records are put together. What is still a `Test` looks at none, or at two. */
export type GroupedResidue = Reduced<Test | RelatedTests>;

/**
 * Puts tests of the same related record together, where one `and` or `or` ties them: there is one such record at most, and to
 * look it up, and to ask whether the caller may, costs more than to test it. Those that may take long stay apart: what looks
 * once is a single step of the plan.
 */
export function groupRelatedTests(residue: Residue): GroupedResidue {
  switch (residue.kind) {
    case 'constant':
      return residue;
    case 'and':
    case 'or':
      return { kind: residue.kind, parts: groupTests(residue.kind, residue.parts.map(groupRelatedTests)) };
    case 'compare':
    case 'empty':
      return relatedTest(residue) ?? residue;
  }
}

function groupTests(glue: 'and' | 'or', parts: readonly GroupedResidue[]): GroupedResidue[] {
  const found = new Map<string, RelatedTests>();
  return parts.flatMap((part) => {
    if (part.kind !== 'related' || part.tests.some(({ test }) => mayTakeLong(test))) return [part];
    const [{ column }] = part.tests;
    const place = `${part.passWithoutRecord} ${column.hops.map(({ column }) => column).join('.')}`;
    const known = found.get(place);
    if (known === undefined) {
      const first = { ...part, glue };
      found.set(place, first);
      return [first];
    }
    known.tests.push(...part.tests);
    return [];
  });
}

function relatedTest(test: Test): RelatedTests | undefined {
  const [column, another] = testColumns(test).filter(({ hops }) => hops.length > 0);
  if (column === undefined || another !== undefined) return undefined;
  const passWithoutRecord = passesWithoutValue(test) !== test.negated;
  return { kind: 'related', glue: 'and', passWithoutRecord, tests: [{ test, column }] };
}

/** Whether a test that is not negated passes where a side of it has no value. */
export function passesWithoutValue(test: Test): boolean {
  return test.kind === 'empty' || operators[test.operator].withoutValue;
}

/** Whether a single evaluation may take long: of a pattern in a text, and of a place in JSON, of up to megabytes. */
export function mayTakeLong(test: Test): boolean {
  return test.kind === 'compare' && operators[test.operator].pattern ||
    testColumns(test).some(({ type }) => type === 'json');
}

/** The columns that a test compares. */
export function testColumns(test: Test): ColumnTerm[] {
  return test.kind === 'empty' ? [test.term] : [test.left, test.right].filter(isColumn);
}
