// Conditions on many related records that pin these by an id, as `memberships_via_project(user = @request.auth.id)` does.
import type { Test } from '../fold.ts';
import type { Some } from '../reduced.ts';
import { type GroupedResidue, type RelatedTests, testColumns } from './related-tests.ts';

/**
 * The column of the record `level` whose values the pinned records have in their relation `by`; undefined for conditions of
 * another shape. PostgreSQL then reads the pinned records once, since they depend on no other record, and finds the records
 * that they point to by an index. As a semi-join it compares each record of a page with each pinned one.
 */
export function pinnedColumn(
  { reach, part, negated }: Some<Test | RelatedTests>,
  level: number,
): { column: string; by: string } | undefined {
  const { by, through, hops, source } = reach;
  const isPlain = by !== undefined && through === undefined && source.columns.get(by)?.isMany !== true;
  if (negated || !isPlain || hops.length > 1 || hops[0]?.isOwn === true || !isPinned(part, level)) {
    return undefined;
  }
  return { column: hops[0]?.column ?? 'id', by };
}

function isPinned(part: GroupedResidue, level: number): boolean {
  const tests = part.kind === 'and' ? part.parts : [part];
  return tests.every((test) => readsOnly(test, level)) && tests.some(pins);
}

/** True for a test of the related record alone. */
function readsOnly(test: GroupedResidue, level: number): boolean {
  return (test.kind === 'compare' || test.kind === 'empty') &&
    testColumns(test).every((column) => column.level === level && column.hops.length === 0);
}

/** True for `user = '<id>'`, which an index decides. */
function pins(test: GroupedResidue): boolean {
  if (test.kind !== 'compare' || test.operator !== '=' || test.negated) return false;
  const [column, ...others] = testColumns(test);
  return others.length === 0 && column?.type === 'uuid' && column.isMany !== true;
}
