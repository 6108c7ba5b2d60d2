// A filter that is resolved against its collection: every operand has a type, every name is a column.
import type { ExactNumber } from '../../sql/exact-number.ts';
import type { Comparable } from '../fields/kind.ts';
import type { FilterSource } from './source.ts';
import type { Operator, RequestPart } from './parse/tree.ts';

/** Types that values compare in. Every value but JSON has one of them; a JSON value may have one. */
export type ScalarType = Exclude<Comparable, 'json'>;

/** A value of a scalar type. An instant is in milliseconds since 1970, a UUID is its lower-case text. */
export type Scalar = string | number | ExactNumber | boolean;

/** A step from a record to the record that a relation field points to, or from a profile to its user. */
export interface Hop {
  /** The relation field; `id` of a profile. */
  column: string;
  /** The id of the collection that it points to. */
  target: string;
  source: FilterSource;
  /** Set for the user of a profile, whose shown fields are the profile's own for everybody who may read it. */
  isOwn?: true;
}

/**
 * The records that a condition asks for: those whose relation `by` leads to one record, those that the relation `through` of
 * one record holds, or all of a collection when both are undefined.
 */
export interface Reach {
  /** The id of their collection. */
  target: string;
  source: FilterSource;
  by: string | undefined;
  through?: string;
  /** The one record: of this level, or the one that the hops lead to from there. */
  level: number;
  hops: readonly Hop[];
}

/** A column of the record itself or, by `hops`, of a related one. In a `json` column, `path` leads to the value. */
export interface ColumnTerm {
  kind: 'column';
  /** Whose column: 0 is the filtered record, 1 a record that a `some` asks for, 2 one of a `some` within that. */
  level: number;
  hops: readonly Hop[];
  column: string;
  type: Comparable;
  path: readonly string[];
  /** True when it holds email addresses, which are stored in lower case. */
  isEmail?: boolean | undefined;
  /** True when it holds an array of values. A comparison is true when it is of one of them. */
  isMany?: boolean | undefined;
}

/** A literal, or a value of the request. */
export interface ValueTerm {
  kind: 'value';
  type: ScalarType;
  value: Scalar;
}

/** The instant of the request. */
export interface NowTerm {
  kind: 'now';
}

/** A member of the request. `readAs` is the type of the other side, if that is known. */
export interface RequestTerm {
  kind: 'request';
  part: RequestPart;
  name: string;
  readAs: ScalarType | undefined;
  /** True when the other side holds email addresses. */
  isEmail?: boolean;
  /** The type of a member that has one of its own. */
  type?: ScalarType;
  /** The column of the caller's profile that `auth.profile` names. */
  profile?: ProfileColumn;
}

/** A column of the caller's record in an `auth` collection. */
export interface ProfileColumn {
  collection: string;
  column: ColumnTerm;
  /** True in a caller's own filter, which sees the profile as far as the caller may get it. */
  isGuarded: boolean;
}

/** One side of a comparison. */
export type Term = ColumnTerm | ValueTerm | NowTerm | RequestTerm;

/** A filter, ready to be decided for a record and a request. */
export type Condition =
  | { kind: 'constant'; truth: boolean }
  | { kind: 'and' | 'or'; parts: readonly Condition[] }
  | { kind: 'not'; part: Condition }
  | { kind: 'compare'; operator: Operator; left: Term; right: Term }
  /** The comparison with the literal `null`: true when there is no value. */
  | { kind: 'empty'; term: Term }
  /** True when one of the records in reach meets the part, in which it has the next level. */
  | { kind: 'some'; reach: Reach; part: Condition };

/** A condition that compares. */
export type Comparison = Extract<Condition, { kind: 'compare' | 'empty' }>;

/** True, false, or unknown: a condition on what the request lacks can be neither met nor failed. */
export type Truth = boolean | 'unknown';

/** The type of a term, as far as it is known before there is a request. */
export function termType(term: Term): Comparable | undefined {
  switch (term.kind) {
    case 'column':
    case 'value':
      return term.type;
    case 'now':
      return 'datetime';
    case 'request':
      return term.profile?.column.type ?? term.type;
  }
}

/** The type in which values of these types compare, if they do: `text` for a UUID and a text, which may be that of a UUID. */
export function commonType(left: ScalarType, right: ScalarType): ScalarType | undefined {
  if (left === right) return left;
  const types: readonly ScalarType[] = [left, right];
  return types.includes('uuid') && types.includes('text') ? 'text' : undefined;
}

/** The hops that lead to another record. A profile has the columns of its user itself. */
function relationHops(hops: readonly Hop[]): readonly Hop[] {
  return hops.filter((hop) => !isOwnStep(hop));
}

/** The path of a related record from the filtered one, `author` or `author.company`; empty for the record itself. */
export function hopPath(hops: readonly Hop[]): string {
  return relationHops(hops).map(({ column }) => column).join('.');
}

/** A related record that a condition reads: how to get there, and the columns that it reads. */
export interface RelatedPart {
  hops: readonly Hop[];
  columns: ReadonlySet<string>;
}

/**
 * The related records that a condition reads, by their paths, each after the one that it hangs on. `from` are hops
 * before the condition: it is then a condition on the record that they lead to, which is one of the parts.
 */
export function relatedParts(condition: Condition, from: readonly Hop[] = []): Map<string, RelatedPart> {
  const found = new Map<string, { hops: readonly Hop[]; columns: Set<string> }>();
  for (const { level, hops, column } of columnsIn(condition)) {
    if (level > 0) continue;
    const all = relationHops([...from, ...hops]);
    all.forEach((_, index) => {
      const part = all.slice(0, index + 1);
      const name = hopPath(part);
      const known = found.get(name) ?? { hops: part, columns: new Set() };
      known.columns.add(all[index + 1]?.column ?? column);
      found.set(name, known);
    });
  }
  return found;
}

/** The columns of the filtered record itself that a condition reads; a relation that it follows is one. */
export function ownColumns(condition: Condition): Set<string> {
  const names = new Set<string>();
  for (const { level, hops, column } of columnsIn(condition)) {
    if (level === 0) names.add(relationHops(hops)[0]?.column ?? column);
  }
  for (const { level, hops, through } of reachesIn(condition)) {
    const first = relationHops(hops)[0]?.column ?? through;
    if (level === 0 && first !== undefined) names.add(first);
  }
  return names;
}

/** The steps to related records that a condition takes, each as often as it does. */
export function* stepsIn(condition: Condition): Generator<Hop | Reach> {
  for (const { hops } of columnsIn(condition)) yield* hops;
  for (const reach of reachesIn(condition)) yield* [...reach.hops, reach];
}

/** True when a step leads from a profile to its user, and so to no other record. */
export function isOwnStep(step: Hop | Reach): boolean {
  return 'isOwn' in step && step.isOwn === true;
}

/** The comparisons of a condition, those within a `some` too. */
export function* comparisonsIn(condition: Condition): Generator<Comparison> {
  switch (condition.kind) {
    case 'constant':
      return;
    case 'and':
    case 'or':
      for (const part of condition.parts) yield* comparisonsIn(part);
      return;
    case 'not':
    case 'some':
      return yield* comparisonsIn(condition.part);
    case 'compare':
    case 'empty':
      yield condition;
  }
}

/** True for a `number` field. It holds a double, and what it is compared with is rounded to one. */
export function isDouble(term: Term): boolean {
  return term.kind === 'column' && term.type === 'number';
}

/** What the comparisons of a condition compare. */
export function* termsIn(condition: Condition): Generator<Term> {
  for (const test of comparisonsIn(condition)) {
    if (test.kind === 'empty') yield test.term;
    else yield* [test.left, test.right];
  }
}

/** The records that a condition asks for. */
export function* reachesIn(condition: Condition): Generator<Reach> {
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const part of condition.parts) yield* reachesIn(part);
      return;
    case 'not':
      return yield* reachesIn(condition.part);
    case 'some':
      yield condition.reach;
      yield* reachesIn(condition.part);
  }
}

/** True when a condition asks for related records of which there may be many. PostgreSQL decides it, in streams too. */
export function asksForMany(condition: Condition): boolean {
  return reachesIn(condition).next().done !== true;
}

function* columnsIn(condition: Condition): Generator<ColumnTerm> {
  for (const term of termsIn(condition)) if (isColumn(term)) yield term;
}

/** True for a column. */
export function isColumn(term: Term): term is ColumnTerm {
  return term.kind === 'column';
}
