// Groups the tests of a residue that read the same related record, so that one subselect decides them.
import { type ColumnTerm, isColumn } from '../condition.ts';
import type { Residue, Test } from '../fold.ts';
import type { Reduced } from '../reduced.ts';
import { operators } from '../operators/operators.ts';

/** A test of one related record, and its only column that is not the filtered record's own. */
export interface RelatedTest {
  test: Test;
  column: ColumnTerm;
}

/** Tests of one related record that all pass, or all fail, when there is none. */
export interface RelatedTests {
  kind: 'related';
  /** How they are combined. */
  glue: 'and' | 'or';
  passWithoutRecord: boolean;
  tests: [RelatedTest, ...RelatedTest[]];
}

/** A residue whose tests of related records are grouped. A `Test` that is left reads no related record, or two. */
export type GroupedResidue = Reduced<Test | RelatedTests>;

/**
 * Groups tests of the same related record that one `and` or `or` combines. There is one such record at most. Finding
 * it, and checking that the caller may read it, costs more than testing it. Tests that may take long stay apart: a
 * subselect is a single step of the plan.
 */
export function groupRelatedTests(residue: Residue): GroupedResidue {
  switch (residue.kind) {
    case 'constant':
      return residue;
    case 'and':
    case 'or':
      return { kind: residue.kind, parts: groupTests(residue.kind, residue.parts.map(groupRelatedTests)) };
    case 'some':
      return { ...residue, part: groupRelatedTests(residue.part) };
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
    const path = column.hops.map(({ column }) => column).join('.');
    const place = `${part.passWithoutRecord} ${column.level} ${path}`;
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

/** True when a test that is not negated passes if a side of it has no value. */
export function passesWithoutValue(test: Test): boolean {
  return test.kind === 'empty' || operators[test.operator].withoutValue;
}

/** True when a single evaluation may take long: of a pattern in a text, and of a path in JSON, of up to megabytes. */
export function mayTakeLong(test: Test): boolean {
  return test.kind === 'compare' && operators[test.operator].pattern ||
    testColumns(test).some(({ type }) => type === 'json');
}

/** The columns that a test compares. */
export function testColumns(test: Test): ColumnTerm[] {
  return test.kind === 'empty' ? [test.term] : [test.left, test.right].filter(isColumn);
}

/** The number of tests of related records in a residue. */
export function countRelated(residue: GroupedResidue): number {
  switch (residue.kind) {
    case 'constant':
      return 0;
    case 'and':
    case 'or':
      return residue.parts.reduce((sum, part) => sum + countRelated(part), 0);
    case 'compare':
    case 'empty':
      return testColumns(residue).some(({ hops }) => hops.length > 0) ? 1 : 0;
    case 'related':
      return 1;
    case 'some':
      return 1 + countRelated(residue.part);
  }
}
