// The comparing operators, each with its two meanings side by side. A new one gets its name in `tree.ts`, from where
// the compiler leads here, and `lex.ts` has to read its sign.
import { commonType, type Scalar, type ScalarType } from '../condition.ts';
import type { WorkBudget } from '../work-budget.ts';
import { likeSql, matches } from './pattern.ts';
import type { Operator } from '../parse/tree.ts';
import { allSides, orderedSides, type Side, textSides } from './sides.ts';
import { compareScalars } from './values.ts';

/** The meaning of an operator. Sides without a value, or of unlike types, never reach `sql` and `holds`. */
export interface Meaning {
  /** The result when a side has no value: such a side is unlike everything. */
  readonly withoutValue: boolean;
  /** The operator whose negation it is. Of many values, `!=` holds when none is equal, and not when one differs. */
  readonly negates?: Operator;
  /** True when many values have an order that a comparison of one of them would hide: which one is for its writer to say. */
  readonly orders?: true;
  /** True when both sides must be texts, the right one a pattern. */
  readonly pattern: boolean;
  /** The sides that it may have. A comparison with another one is refused. */
  readonly sides: readonly Side[];
  /**
   * The operator in SQL, for two expressions of one type; a pattern comes as `pattern.ts` made it. Null may stand for
   * false and, where a side is null, for `withoutValue`. A comparison that holds is never false.
   */
  sql(left: string, right: string, type: ScalarType): string;
  /** The operator in memory, for two values of one type. */
  holds(left: Scalar, right: Scalar, budget?: WorkBudget): boolean;
}

/** All comparing operators. */
export const operators: Record<Operator, Meaning> = {
  '=': {
    withoutValue: false,
    pattern: false,
    sides: allSides,
    sql: (left, right, type) => `${collated(left, type)} = ${right}`,
    holds: (left, right) => compareScalars(left, right) === 0,
  },
  '!=': {
    withoutValue: true,
    negates: '=',
    pattern: false,
    sides: allSides,
    sql: (left, right, type) => `(${collated(left, type)} = ${right}) is not true`,
    holds: (left, right) => compareScalars(left, right) !== 0,
  },
  '>': {
    withoutValue: false,
    orders: true,
    pattern: false,
    sides: orderedSides,
    sql: (left, right, type) => `${collated(left, type)} > ${right}`,
    holds: (left, right) => compareScalars(left, right) > 0,
  },
  '>=': {
    withoutValue: false,
    orders: true,
    pattern: false,
    sides: orderedSides,
    sql: (left, right, type) => `${collated(left, type)} >= ${right}`,
    holds: (left, right) => compareScalars(left, right) >= 0,
  },
  '<': {
    withoutValue: false,
    orders: true,
    pattern: false,
    sides: orderedSides,
    sql: (left, right, type) => `${collated(left, type)} < ${right}`,
    holds: (left, right) => compareScalars(left, right) < 0,
  },
  '<=': {
    withoutValue: false,
    orders: true,
    pattern: false,
    sides: orderedSides,
    sql: (left, right, type) => `${collated(left, type)} <= ${right}`,
    holds: (left, right) => compareScalars(left, right) <= 0,
  },
  '~': {
    withoutValue: false,
    pattern: true,
    sides: textSides,
    sql: likeSql,
    holds: (left, right, budget) => matches(String(left), String(right), budget),
  },
  '!~': {
    withoutValue: true,
    negates: '~',
    pattern: true,
    sides: textSides,
    sql: (left, right) => `(${likeSql(left, right)}) is not true`,
    holds: (left, right, budget) => !matches(String(left), String(right), budget),
  },
};

/** Texts compare by code point, whatever the locale of the database or the collation of the column. */
function collated(expression: string, type: ScalarType): string {
  return type === 'text' ? `${expression} collate "C"` : expression;
}

/** The type in which an operator compares values of two types; undefined when they are unlike. */
export function comparedAs(
  { pattern }: Meaning,
  left: ScalarType,
  right: ScalarType,
): ScalarType | undefined {
  const type = commonType(left, right);
  if (!pattern) return type;
  return type === 'text' || type === 'uuid' ? 'text' : undefined;
}
