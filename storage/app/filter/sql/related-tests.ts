// Which tests of a residue look at a related record, and which of them a single look answers.
import { type ColumnTerm, isColumn } from '../condition.ts';
import type { Reduced, Residue, Test } from '../fold.ts';
import { operators } from '../operators/operators.ts';

/** A test of one related record, and the only column in it that is not the filtered record's own. */
export interface Look {
  test: Test;
  far: ColumnTerm;
}

/** Tests of one related record that all pass, or all fail, where there is none. */
export interface Looks {
  kind: 'looks';
  /** How they are tied to each other. */
  glue: 'and' | 'or';
  passWithoutRecord: boolean;
  looks: [Look, ...Look[]];
}

/** A residue whose looks at related records are put together. What is still a `Test` looks at none, or at two. */
export type Gathered = Reduced<Test | Looks>;

/**
 * Puts tests of the same related record together, where one `and` or `or` ties them: there is one such record at most, and to
 * look it up, and to ask whether the caller may, costs more than to test it. Those that may take long stay apart: what looks
 * once is a single step of the plan.
 */
export function gather(residue: Residue): Gathered {
  switch (residue.kind) {
    case 'constant':
      return residue;
    case 'and':
    case 'or':
      return { kind: residue.kind, parts: together(residue.kind, residue.parts.map(gather)) };
    case 'compare':
    case 'empty':
      return lookOf(residue) ?? residue;
  }
}

function together(glue: 'and' | 'or', parts: readonly Gathered[]): Gathered[] {
  const found = new Map<string, Looks>();
  return parts.flatMap((part) => {
    if (part.kind !== 'looks' || part.looks.some(({ test }) => mayTakeLong(test))) return [part];
    const [{ far }] = part.looks;
    const place = `${part.passWithoutRecord} ${far.hops.map(({ column }) => column).join('.')}`;
    const known = found.get(place);
    if (known === undefined) {
      const first = { ...part, glue };
      found.set(place, first);
      return [first];
    }
    known.looks.push(...part.looks);
    return [];
  });
}

function lookOf(test: Test): Looks | undefined {
  const [far, another] = columnsOf(test).filter(({ hops }) => hops.length > 0);
  if (far === undefined || another !== undefined) return undefined;
  const passWithoutRecord = passesWithoutValue(test) !== test.negated;
  return { kind: 'looks', glue: 'and', passWithoutRecord, looks: [{ test, far }] };
}

/** Whether a test that is not negated passes where a side of it has no value. */
export function passesWithoutValue(test: Test): boolean {
  return test.kind === 'empty' || operators[test.operator].withoutValue;
}

/** Whether a single evaluation may take long: of a pattern in a text, and of a place in JSON, of up to megabytes. */
export function mayTakeLong(test: Test): boolean {
  return test.kind === 'compare' && operators[test.operator].pattern ||
    columnsOf(test).some(({ type }) => type === 'json');
}

/** The columns that a test compares. */
export function columnsOf(test: Test): ColumnTerm[] {
  return test.kind === 'empty' ? [test.term] : [test.left, test.right].filter(isColumn);
}
