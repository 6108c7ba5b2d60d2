// The tree of a parsed filter, before anything is known of the collection.
import type { ExactNumber } from '../../../sql/exact-number.ts';

/** Comparing operators. Their meanings are in `operators.ts`. */
export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~' | '!~';

/** Members of the request that a filter may name. `auth`, `body` and `query` are followed by a name. */
export type RequestPart = 'auth' | 'body' | 'query' | 'method';

/** A literal. `written` is its source for numbers and truth values, its value for texts. */
export type Literal =
  | { kind: 'text'; value: string; written: string; at: number }
  | { kind: 'number'; value: number | ExactNumber; written: string; at: number }
  | { kind: 'boolean'; value: boolean; written: string; at: number };

/** A field, a field of related records, or a value within a JSON field. */
export interface Path {
  kind: 'path';
  /**
   * The start: the record at hand, which is a related one within its condition; the record that the filter is about
   * (`@record`); or all records of the collection that the first name is (`@collection`).
   */
  from: 'row' | 'record' | 'collection';
  names: readonly string[];
  at: number;
}

/** One side of a comparison. */
export type Operand =
  | Literal
  | { kind: 'null'; at: number }
  | Path
  | { kind: 'now'; at: number }
  /** `path` is what follows the name: of `auth.profile.members.plan`, the collection and the field. */
  | { kind: 'request'; part: RequestPart; name: string; path: readonly string[]; at: number };

/** A filter or a part of one. */
export type Expression =
  | { kind: 'and' | 'or'; parts: readonly Expression[] }
  | { kind: 'not'; part: Expression }
  | { kind: 'compare'; operator: Operator; left: Operand; right: Operand }
  | { kind: 'in'; left: Operand; items: readonly Operand[] }
  /** True when one of the records that the path leads to meets the part. */
  | { kind: 'some'; path: Path; part: Expression };
