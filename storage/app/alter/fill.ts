// Records that are there before a field is: counting those that a change does not admit, and filling in defaults.
import type { Sql } from '../../connections/pool.ts';
import type { Field } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { planField } from '../records/planned-field.ts';
import { qualified, type TableName } from '../tables.ts';

/** Lets nobody write records until the transaction has ended, so that what it has counted stays true. */
export async function lockForWrites(sql: Sql, table: TableName): Promise<void> {
  await sql.unsafe(`lock table ${qualified(table)} in share row exclusive mode`);
}

/** The number of records without a value in a field, or of all records when no field is given. */
export async function countEmpty(sql: Sql, table: TableName, field?: Field): Promise<number> {
  const condition = field === undefined ? 'true' : emptyField(field);
  const [row] = await sql.unsafe<{ records: number }[]>(
    `select count(*)::float8 as records from ${qualified(table)} where ${condition}`,
  );
  return row?.records ?? 0;
}

/** The number of records whose field has one of these options. */
export async function countOptions(
  sql: Sql,
  table: TableName,
  { name, many }: Pick<Field, 'name' | 'many'>,
  options: readonly string[],
): Promise<number> {
  const list = options.map(quoteLiteral).join(', ');
  const [row] = await sql.unsafe<{ records: number }[]>(
    `select count(*)::float8 as records from ${qualified(table)} where ${quoteIdentifier(name)} ${
      many === true ? `&& array[${list}]` : `in (${list})`
    }`,
  );
  return row?.records ?? 0;
}

/** True when a field has a default that can be filled in. */
export function hasDefault(field: Field): boolean {
  return planField(field).fallback !== null;
}

/** The default as a literal of SQL, for statements without parameters; undefined for a field without one. */
export function defaultLiteral(field: Field): string | undefined {
  const { fallback } = planField(field);
  if (fallback === null) return undefined;
  const literal = typeof fallback === 'number' ? `(${fallback})` : quoteLiteral(fallback);
  return literal + kindOf(field).cast;
}

/** Fills in the default of a field where records have no value. Their `updated_at` stays. Throws `StorageError`. */
export async function fillEmpty(sql: Sql, table: TableName, field: Field): Promise<void> {
  const column = quoteIdentifier(field.name);
  const value = defaultLiteral(field);
  if (value === undefined) return;
  await sql.unsafe(`update ${qualified(table)} set ${column} = ${value} where ${emptyField(field)}`);
}

function emptyField({ name, many }: Field): string {
  return `${quoteIdentifier(name)} ${many === true ? `= '${noItems}'` : 'is null'}`;
}
