// A filter that has met its collection: every operand has a type, every name a column.
import type { Comparable } from '../fields/kind.ts';
import type { FilterSource } from './source.ts';
import type { Operator, RequestPart } from './parse/tree.ts';

/** Types that values compare in. Whatever is not JSON is of one of them; a JSON value may be. */
export type ScalarType = Exclude<Comparable, 'json'>;

/** A value of a scalar type. An instant is its milliseconds since 1970, a UUID its lower-case text. */
export type Scalar = string | number | boolean;

/** From a record to the record that one of its relation fields points to, or from a profile to its user. */
export interface Hop {
  /** The relation field; `id` of a profile. */
  column: string;
  /** Name of the collection it points to. */
  target: string;
  source: FilterSource;
  /** The user of a profile: what it shows of it is its own, to whoever may see it. */
  isOwn?: true;
}

/** A column of the record itself or, by `hops`, of a related one; in a `json` column, the place that `path` leads to. */
export interface ColumnTerm {
  kind: 'column';
  hops: readonly Hop[];
  column: string;
  type: Comparable;
  path: readonly string[];
  /** Whether it holds email addresses, which are stored in lower case. */
  isEmail?: boolean | undefined;
}

/** A literal, or what a request's value has become. */
export interface ValueTerm {
  kind: 'value';
  type: ScalarType;
  value: Scalar;
}

/** The instant of the request. */
export interface NowTerm {
  kind: 'now';
}

/** A member of the request. `readAs`: the type of the other side, where that is known. */
export interface RequestTerm {
  kind: 'request';
  part: RequestPart;
  name: string;
  readAs: ScalarType | undefined;
  /** Whether the other side holds email addresses. */
  isEmail?: boolean;
}

/** One side of a comparison. */
export type Term = ColumnTerm | ValueTerm | NowTerm | RequestTerm;

/** A filter, ready to be decided for a record and a request. */
export type Condition =
  | { kind: 'constant'; truth: boolean }
  | { kind: 'and' | 'or'; parts: readonly Condition[] }
  | { kind: 'not'; part: Condition }
  | { kind: 'compare'; operator: Operator; left: Term; right: Term }
  /** Whether there is no value: the comparison with the literal `null`. */
  | { kind: 'empty'; term: Term };

/** A condition that is neither a constant nor made of others. */
export type Comparison = Extract<Condition, { kind: 'compare' | 'empty' }>;

/** True, false, or unknown: what the request lacks can neither be met nor be failed. */
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
      return undefined;
  }
}

/** Whether values of these types can be compared: as `text` where one is a UUID and the other may be the text of one. */
export function commonType(left: ScalarType, right: ScalarType): ScalarType | undefined {
  if (left === right) return left;
  const types: readonly ScalarType[] = [left, right];
  return types.includes('uuid') && types.includes('text') ? 'text' : undefined;
}

/** The hops that lead to another record: a profile has the columns of its user itself. */
function relationHops(hops: readonly Hop[]): readonly Hop[] {
  return hops.filter(({ isOwn }) => isOwn !== true);
}

/** Name of a related record as seen from the filtered one: `author`, or `author.company`; empty for itself. */
export function hopPath(hops: readonly Hop[]): string {
  return relationHops(hops).map(({ column }) => column).join('.');
}

/** A related record that a condition looks at: how to get there, and the columns that count. */
export interface RelatedPart {
  hops: readonly Hop[];
  columns: ReadonlySet<string>;
}

/**
 * The related records that a condition looks at, by the name of their hops, each after the one it hangs on. With `from`, as
 * seen from where those hops begin: the condition is then one on the record that they lead to, which is a part too.
 */
export function relatedParts(condition: Condition, from: readonly Hop[] = []): Map<string, RelatedPart> {
  const found = new Map<string, { hops: readonly Hop[]; columns: Set<string> }>();
  for (const { hops, column } of columnsOf(condition)) {
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
  return new Set(columnsOf(condition).map(({ hops, column }) => relationHops(hops)[0]?.column ?? column));
}

function columnsOf(condition: Condition): ColumnTerm[] {
  switch (condition.kind) {
    case 'constant':
      return [];
    case 'and':
    case 'or':
      return condition.parts.flatMap(columnsOf);
    case 'not':
      return columnsOf(condition.part);
    case 'compare':
      return [condition.left, condition.right].filter(isColumn);
    case 'empty':
      return [condition.term].filter(isColumn);
  }
}

/** Whether a term is a column. */
export function isColumn(term: Term): term is ColumnTerm {
  return term.kind === 'column';
}
