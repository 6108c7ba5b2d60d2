// One comparison in SQL. What the columns are called is the business of `to-sql.ts`.
import type { ColumnTerm, ScalarType, ValueTerm } from '../condition.ts';
import type { Test } from '../fold.ts';
import { comparedAs, type Meaning, operators } from '../operators/operators.ts';
import { isPattern, likePattern, likePatternSql } from '../operators/pattern.ts';

/** The parameters of one text. */
export interface BoundParameters {
  readonly firstParameter: number;
  readonly params: (string | number)[];
  /** Steps into JSON that are parameters already: the items of a list repeat the same path. */
  readonly steps: Map<string, string>;
}

/** The SQL expression of a term's column, before any path into JSON. */
export type ColumnWriter = (term: ColumnTerm) => string;

/** A test without its negation, as a boolean expression in which null may stand for false. */
export function comparisonSql(test: Test, spell: ColumnWriter, slots: BoundParameters): string {
  if (test.kind === 'empty') return emptySql(test.term, spell(test.term), slots);
  const { operator, left, right } = test;
  const meaning = operators[operator];
  if (left.type === 'json' || right.type === 'json') {
    return jsonTest(meaning, makeSide(left, spell, slots), makeSide(right, spell, slots));
  }
  const type = comparedAs(meaning, left.type, right.type);
  if (type === undefined) return 'false';
  const first = scalarSql(left, type, spell, slots);
  const second = meaning.pattern
    ? makeSide(right, spell, slots).asPattern()
    : scalarSql(right, type, spell, slots);
  return meaning.sql(first, second, type);
}

/** A value, or a column that is not JSON: by itself, as every request with a rule has some of them. */
function scalarSql(
  term: ColumnTerm | ValueTerm,
  type: ScalarType,
  spell: ColumnWriter,
  slots: BoundParameters,
): string {
  if (term.kind === 'value') return bindValue(slots, term, type);
  const column = spell(term);
  return term.type === type ? column : `(${column}::text)`;
}

function emptySql(term: ColumnTerm, column: string, slots: BoundParameters): string {
  return term.type === 'json'
    ? `coalesce(jsonb_typeof(${placeSql(term, column, slots)}), 'null') = 'null'`
    : `${column} is null`;
}

/** One side of a comparison. Its parameters are bound when it is first asked for SQL, because unused ones are an error. */
interface Side {
  /** Types that its values may have. */
  readonly types: readonly ScalarType[];
  as(type: ScalarType): string;
  /** As the pattern of `~`. */
  asPattern(): string;
  /** Whether it has a value of the type; undefined when only `types` matter. */
  hasType(type: ScalarType): string | undefined;
  /** Whether it has no value; undefined when it always has one. */
  isEmpty(): string | undefined;
}

function makeSide(term: ColumnTerm | ValueTerm, spell: ColumnWriter, slots: BoundParameters): Side {
  if (term.kind === 'value') return valueSide(term, slots);
  return term.type === 'json' ? jsonSide(term, spell, slots) : columnSide(term.type, once(() => spell(term)));
}

function rightSide(meaning: Meaning, right: Side, type: ScalarType): string {
  return meaning.pattern ? right.asPattern() : right.as(type);
}

const casts: Record<ScalarType, string> = {
  text: '::text',
  number: '::double precision',
  // Through text: the driver would make something of its own of these two.
  boolean: '::text::boolean',
  datetime: '::text::timestamptz',
  uuid: '::uuid',
};

function bind(slots: BoundParameters, value: string | number, type: ScalarType): string {
  slots.params.push(value);
  return `$${slots.firstParameter + slots.params.length - 1}${casts[type]}`;
}

function bindValue(slots: BoundParameters, { type, value }: ValueTerm, wanted: ScalarType): string {
  const held = type === 'datetime' ? new Date(Number(value)).toISOString() : value;
  return bind(slots, typeof held === 'boolean' ? String(held) : held, wanted);
}

function valueSide(term: ValueTerm, slots: BoundParameters): Side {
  const { type, value } = term;
  return {
    types: [type],
    as: (wanted) => bindValue(slots, term, wanted),
    asPattern: () =>
      isPattern(String(value)) ? bind(slots, likePattern(String(value)), 'text') : `null${casts.text}`,
    hasType: () => undefined,
    isEmpty: () => undefined,
  };
}

function columnSide(type: ScalarType, column: () => string): Side {
  const as = (wanted: ScalarType) => wanted === type ? column() : `(${column()}::text)`;
  return {
    types: [type],
    as,
    asPattern: () => likePatternSql(as('text')),
    hasType: () => undefined,
    isEmpty: () => `${column()} is null`,
  };
}

/** Written when it is first used, and only once: a related column brings parameters of its own. */
function once(write: () => string): () => string {
  let written: string | undefined;
  return () => written ??= write();
}

/** Types that JSON has, with PostgreSQL's names for them: https://www.postgresql.org/docs/18/functions-json.html */
const jsonTypes: ReadonlyMap<ScalarType, string> = new Map([
  ['text', 'string'],
  ['number', 'number'],
  ['boolean', 'boolean'],
]);

function jsonSide(term: ColumnTerm, spell: ColumnWriter, slots: BoundParameters): Side {
  const place = once(() => placeSql(term, spell(term), slots));
  const as = (type: ScalarType) => type === 'text' ? `(${place()} #>> '{}')` : `${place()}${jsonCasts(type)}`;
  return {
    types: [...jsonTypes.keys()],
    as,
    asPattern: () => likePatternSql(as('text')),
    hasType: (type) => `jsonb_typeof(${place()}) = '${jsonTypes.get(type)}'`,
    isEmpty: () => `coalesce(jsonb_typeof(${place()}), 'null') = 'null'`,
  };
}

function jsonCasts(type: ScalarType): string {
  return type === 'number' ? '::double precision' : '::boolean';
}

function placeSql({ path }: ColumnTerm, column: string, slots: BoundParameters): string {
  if (path.length === 0) return column;
  return `jsonb_extract_path(${[column, ...path.map((step) => bindStep(slots, step))].join(', ')})`;
}

function bindStep(slots: BoundParameters, step: string): string {
  const known = slots.steps.get(step);
  if (known !== undefined) return known;
  const bound = bind(slots, step, 'text');
  slots.steps.set(step, bound);
  return bound;
}

/**
 * A comparison with a JSON value: what type it has is known row by row, and a cast must only be tried where it fits.
 * `case` is what keeps that order: https://www.postgresql.org/docs/18/sql-expressions.html#SYNTAX-EXPRESS-EVAL
 */
function jsonTest(meaning: Meaning, left: Side, right: Side): string {
  const types = commonTypes(meaning, left, right);
  const branches: string[] = [];
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
      meaning.sql(left.as(type), rightSide(meaning, right, type), type),
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
