// The order of a list, and the records that come after a place in it, as SQL.
import type { Where } from './restriction.ts';

/** A column to sort by. */
export interface SortKey {
  column: string;
  descending: boolean;
}

/**
 * The order of a list. `withSnapshot` adds a last column with the snapshot that the statement saw. `ranked`
 * makes a list of the newest candidates only, and adds their rank as the last column.
 */
export interface ListShape {
  sort: readonly SortKey[];
  withSnapshot: boolean;
  ranked?: { rank: string; candidates: string } | undefined;
}

/** A place in the order of a list: the values of the sort keys of a record as they are sent to PostgreSQL, and its id. */
export interface ListPosition {
  values: readonly (string | number | null)[];
  id: string;
}

/** Writes a column of the table, and the cast of a parameter that is compared with it. */
export type ColumnSql = (column: string) => { expression: string; cast: string; isNullable: boolean };

/**
 * The keys as SQL, followed by the id, so that every list has exactly one order. `nameOf` gives the expression of a
 * column.
 */
export function orderBy(sort: readonly SortKey[], nameOf: (column: string) => string): string {
  return withId(sort)
    .map(({ column, descending }) => `${nameOf(column)}${descending ? ' desc' : ''}`)
    .join(', ');
}

function withId(sort: readonly SortKey[]): SortKey[] {
  return [...sort, { column: 'id', descending: false }];
}

/** A key, and the parameter with its value at the position; no parameter for a record without a value. */
interface BoundKey {
  column: string;
  descending: boolean;
  isNullable: boolean;
  parameter: string | undefined;
}

/**
 * The records that come after a position, as one or two conditions: the records of the first come before those of the second.
 * Each is a range of an index on the first key, which one condition for all would not be: those without a value come last.
 */
export function rangesAfter(
  sort: readonly SortKey[],
  { values, id }: ListPosition,
  { columnSql, firstParameter }: { columnSql: ColumnSql; firstParameter: number },
): Where[] {
  const params: Where['params'] = [];
  const keys = withId(sort).map(({ column, descending }, index): BoundKey => {
    const { expression, cast, isNullable } = columnSql(column);
    const value = index < sort.length ? values[index] ?? null : id;
    const parameter = value === null ? undefined : `$${firstParameter + params.push(value) - 1}${cast}`;
    return { column: expression, descending, isNullable, parameter };
  });
  const [first, ...rest] = keys;
  if (first === undefined) return [];
  const { column, descending, isNullable, parameter } = first;
  const other = (parameter === undefined) === descending && isNullable;
  return [
    { text: firstRange(first, rest), params },
    ...(other ? [{ text: `${column} is${descending ? ' not' : ''} null`, params: [] }] : []),
  ];
}

/** Of the records that have a value like the record at the position, or none like it, those that come after it. */
function firstRange(first: BoundKey, rest: readonly BoundKey[]): string {
  const { column, descending, parameter } = first;
  const [next] = rest;
  if (parameter === undefined) return `${column} is null and ${laterSql(rest)}`;
  const sign = descending ? '<' : '>';
  if (next === undefined) return `${column} ${sign} ${parameter}`;
  return `${column} ${sign}= ${parameter} and ` +
    `(${column} ${sign} ${parameter} or ${column} = ${parameter} and ${laterSql(rest)})`;
}

/** The test that a record comes later by these keys, the first of which decides if it differs. */
function laterSql([first, ...rest]: readonly BoundKey[]): string {
  if (first === undefined) return 'false';
  const { column, descending, isNullable, parameter } = first;
  if (parameter === undefined) {
    const same = `${column} is null and ${laterSql(rest)}`;
    return descending ? `(${column} is not null or ${same})` : `(${same})`;
  }
  const later = `${column} ${descending ? '<' : '>'} ${parameter}` +
    (isNullable && !descending ? ` or ${column} is null` : '');
  return rest.length === 0 ? `(${later})` : `(${later} or ${column} = ${parameter} and ${laterSql(rest)})`;
}
