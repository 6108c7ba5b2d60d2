// Writes one comparison in SQL. `to-sql.ts` names the columns.
import { type ColumnTerm, isColumn, isDouble, type ScalarType, type ValueTerm } from '../condition.ts';
import { toDouble } from '../../../sql/exact-number.ts';
import { quoteIdentifier } from '../../../sql/quote.ts';
import type { Test } from '../fold.ts';
import { comparedAs, type Meaning, operators } from '../operators/operators.ts';
import { isPattern, likePattern, likePatternSql } from '../operators/pattern.ts';

/** The parameters of one statement. */
export interface BoundParameters {
  readonly firstParameter: number;
  readonly params: (string | number)[];
  /** Writes the parameter of a number; `$1` and so on when left out. */
  readonly parameter?: ((number: number) => string) | undefined;
  /** Steps into JSON that are parameters already: the items of a list repeat the same path. */
  readonly steps: Map<string, string>;
}

/** Writes the SQL expression of a term's column, before any path into JSON. */
export type ColumnWriter = (term: ColumnTerm) => string;

/** A test without its negation, as a boolean expression in which null may stand for false. */
export function comparisonSql(test: Test, writeColumn: ColumnWriter, parameters: BoundParameters): string {
  if (test.kind === 'empty') return emptySql(test.term, writeColumn(test.term), parameters);
  const { operator, left, right } = test;
  const items = [left, right].filter((term) => term.kind === 'column' && term.isMany === true);
  if (items.length > 0) return itemsSql(test, items, writeColumn, parameters);
  const meaning = operators[operator];
  if (left.type === 'json' || right.type === 'json') {
    const sides: [Side, Side] = [
      makeSide(left, writeColumn, parameters),
      makeSide(right, writeColumn, parameters),
    ];
    return jsonTest(meaning, sides, isDouble(left) || isDouble(right) ? 'number' : 'numeric');
  }
  const type = comparedAs(meaning, left.type, right.type);
  if (type === undefined) return 'false';
  const first = scalarSql(left, type, writeColumn, parameters);
  const second = meaning.pattern
    ? makeSide(right, writeColumn, parameters).asPattern()
    : scalarSql(right, type, writeColumn, parameters);
  return meaning.sql(first, second, type);
}

/** A comparison of one of the items of a column. */
function itemsSql(
  test: Extract<Test, { kind: 'compare' }>,
  columns: readonly (ColumnTerm | ValueTerm)[],
  writeColumn: ColumnWriter,
  parameters: BoundParameters,
): string {
  const { operator, left, right } = test;
  const value = [left, right].find((term) => term.kind === 'value');
  const [column] = columns.filter(isColumn);
  if (operator === '=' && value?.kind === 'value' && column !== undefined && value.type === column.type) {
    // Which an index of the array can find.
    return `${writeColumn(column)} @> array[${bindValue(parameters, value, value.type)}]`;
  }
  const sources: string[] = [];
  const oneOf = (term: ColumnTerm | ValueTerm): ColumnTerm | ValueTerm => {
    if (!isColumn(term) || term.isMany !== true) return term;
    sources.push(`unnest(${writeColumn(term)}) as "item_${sources.length}"("item")`);
    return { ...term, isMany: false, column: `item_${sources.length - 1}` };
  };
  const [one, other] = [oneOf(left), oneOf(right)];
  const writeItem: ColumnWriter = (term) =>
    term === one && one !== left || term === other && other !== right
      ? `${quoteIdentifier(term.column)}."item"`
      : writeColumn(term);
  const compared = comparisonSql({ ...test, left: one, right: other }, writeItem, parameters);
  return `exists (select from ${sources.join(', ')} where ${compared})`;
}

/** A value, or a column that is not JSON. Apart from `Side`, because it is in every request with a rule. */
function scalarSql(
  term: ColumnTerm | ValueTerm,
  type: ScalarType,
  writeColumn: ColumnWriter,
  parameters: BoundParameters,
): string {
  if (term.kind === 'value') return bindValue(parameters, term, type);
  const column = writeColumn(term);
  return term.type === type ? column : `(${column}::text)`;
}

function emptySql(term: ColumnTerm, column: string, parameters: BoundParameters): string {
  return term.type === 'json'
    ? `coalesce(jsonb_typeof(${placeSql(term, column, parameters)}), 'null') = 'null'`
    : term.isMany === true
    ? `coalesce(cardinality(${column}), 0) = 0`
    : `${column} is null`;
}

/** A type in which SQL compares. JSON holds numbers as `numeric`, with all of their digits. */
type SqlType = ScalarType | 'numeric';

/** One side of a comparison. It binds its parameters when its SQL is first read, because unused ones are an error. */
interface Side {
  /** Types that its values may have. */
  readonly types: readonly ScalarType[];
  as(type: SqlType): string;
  /** The side as the pattern of `~`. */
  asPattern(): string;
  /** The test that it has a value of the type; undefined when `types` alone decide. */
  hasType(type: ScalarType): string | undefined;
  /** The test that it has no value; undefined when it always has one. */
  isEmpty(): string | undefined;
}

function makeSide(
  term: ColumnTerm | ValueTerm,
  writeColumn: ColumnWriter,
  parameters: BoundParameters,
): Side {
  if (term.kind === 'value') return valueSide(term, parameters);
  return term.type === 'json'
    ? jsonSide(term, writeColumn, parameters)
    : columnSide(term.type, once(() => writeColumn(term)));
}

function rightSide(meaning: Meaning, right: Side, type: SqlType): string {
  return meaning.pattern ? right.asPattern() : right.as(type);
}

const casts: Record<SqlType, string> = {
  text: '::text',
  number: '::double precision',
  numeric: '::text::numeric',
  // Through text: the driver would convert these two by itself.
  boolean: '::text::boolean',
  datetime: '::text::timestamptz',
  uuid: '::uuid',
};

function bind(parameters: BoundParameters, value: string | number, type: SqlType): string {
  parameters.params.push(value);
  const number = parameters.firstParameter + parameters.params.length - 1;
  return `${parameters.parameter?.(number) ?? `$${number}`}${casts[type]}`;
}

function bindValue(parameters: BoundParameters, { type, value }: ValueTerm, wanted: SqlType): string {
  if (typeof value === 'object') {
    return bind(parameters, wanted === 'numeric' ? value.rawJSON : toDouble(value), wanted);
  }
  const held = type === 'datetime' ? new Date(Number(value)).toISOString() : value;
  return bind(parameters, typeof held === 'boolean' || wanted === 'numeric' ? String(held) : held, wanted);
}

function valueSide(term: ValueTerm, parameters: BoundParameters): Side {
  const { type, value } = term;
  return {
    types: [type],
    as: (wanted) => bindValue(parameters, term, wanted),
    asPattern: () =>
      isPattern(String(value)) ? bind(parameters, likePattern(String(value)), 'text') : `null${casts.text}`,
    hasType: () => undefined,
    isEmpty: () => undefined,
  };
}

function columnSide(type: ScalarType, column: () => string): Side {
  const as = (wanted: SqlType) => wanted === type ? column() : `(${column()}::text)`;
  return {
    types: [type],
    as,
    asPattern: () => likePatternSql(as('text')),
    hasType: () => undefined,
    isEmpty: () => `${column()} is null`,
  };
}

/** Writes an expression when it is first used, and only once: a related column brings parameters of its own. */
function once(write: () => string): () => string {
  let written: string | undefined;
  return () => written ??= write();
}

/** The types of JSON, with PostgreSQL's names for them: https://www.postgresql.org/docs/18/functions-json.html */
const jsonTypes: ReadonlyMap<ScalarType, string> = new Map([
  ['text', 'string'],
  ['number', 'number'],
  ['boolean', 'boolean'],
]);

function jsonSide(term: ColumnTerm, writeColumn: ColumnWriter, parameters: BoundParameters): Side {
  const place = once(() => placeSql(term, writeColumn(term), parameters));
  const as = (type: SqlType) => type === 'text' ? `(${place()} #>> '{}')` : `${place()}${jsonCasts(type)}`;
  return {
    types: [...jsonTypes.keys()],
    as,
    asPattern: () => likePatternSql(as('text')),
    hasType: (type) => `jsonb_typeof(${place()}) = '${jsonTypes.get(type)}'`,
    isEmpty: () => `coalesce(jsonb_typeof(${place()}), 'null') = 'null'`,
  };
}

function jsonCasts(type: SqlType): string {
  return type === 'numeric' ? '::numeric' : type === 'number' ? '::double precision' : '::boolean';
}

function placeSql({ path }: ColumnTerm, column: string, parameters: BoundParameters): string {
  if (path.length === 0) return column;
  return `jsonb_extract_path(${[column, ...path.map((step) => bindStep(parameters, step))].join(', ')})`;
}

function bindStep(parameters: BoundParameters, step: string): string {
  const known = parameters.steps.get(step);
  if (known !== undefined) return known;
  const bound = bind(parameters, step, 'text');
  parameters.steps.set(step, bound);
  return bound;
}

/**
 * A comparison with a JSON value. Its type is known row by row, and a cast must only be evaluated where it fits. `case`
 * guarantees that order: https://www.postgresql.org/docs/18/sql-expressions.html#SYNTAX-EXPRESS-EVAL
 */
function jsonTest(
  meaning: Meaning,
  [left, right]: readonly [Side, Side],
  numbers: 'number' | 'numeric',
): string {
  const types = commonTypes(meaning, left, right);
  const branches: string[] = [];
  const compared = (as: SqlType, type: ScalarType) =>
    meaning.sql(left.as(as), rightSide(meaning, right, as), type);
  const when = (conditions: (string | undefined)[], glue: string, result: string) => {
    branches.push(
      `when ${conditions.filter((condition) => condition !== undefined).join(glue)} then ${result}`,
    );
  };
  if (meaning.withoutValue) when([left.isEmpty(), right.isEmpty()], ' or ', 'true');
  for (const type of types) {
    when(
      [left.hasType(type), right.hasType(type)],
      ' and ',
      compared(type === 'number' ? numbers : type, type),
    );
  }
  return branches.length === 0 ? 'false' : `case ${branches.join(' ')} else false end`;
}

/** JSON holds UUIDs as texts, and no instants. */
function commonTypes(meaning: Meaning, left: Side, right: Side): ScalarType[] {
  return [...jsonTypes.keys()].filter((type) =>
    [left, right].every(({ types }) => types.some((other) => comparedAs(meaning, type, other) === type))
  );
}
