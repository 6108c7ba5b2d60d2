// What builds that were interrupted have left on a table: no definition has it.
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { searchName, undoNextSearch } from '../search/index-of-words.ts';
import { nextColumn, searchColumn } from '../search/names.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import type { Attached } from './attached.ts';
import type { TableDefinition } from './attachments.ts';
import { numberingNameOf, undoNumbering } from './autonumber.ts';
import { dropColumn, newColumnName } from './columns.ts';

/** Only indexes of declared fields have names that begin so. */
const declared = /^_[uin]_/;

/** A table whose leftovers are looked for, and what was built ahead of its change. */
export interface SearchedTable {
  before: TableDefinition;
  /** The attachments of `before`. */
  old: readonly Attached[];
  /** The names of what was built ahead. */
  built: ReadonlySet<string>;
}

/** The statements that drop what interrupted builds have left on a table, and which of what was built ahead is whole. */
export async function foundBuilds(
  sql: Sql,
  table: TableName,
  { before, old, built }: SearchedTable,
): Promise<{ strays: string[]; ready: ReadonlySet<string> }> {
  const known = new Set(old.map(({ name }) => name));
  const indexes = await selectIndexes(sql, table);
  const broken = new Set(indexes.filter(({ is_valid }) => !is_valid).map(({ name }) => name));
  const ready = new Set([...built].filter((name) => !broken.has(name)));
  const stray = indexes.filter(({ name }) => declared.test(name) && !known.has(name) && !ready.has(name));
  return {
    strays: [
      ...stray.map(({ name }) => `drop index ${quoteIdentifier(table.schema)}.${quoteIdentifier(name)}`),
      ...await strayNumbers(sql, table, { before, built }),
      ...await strayColumns(sql, table, { before, built }),
    ],
    ready,
  };
}

/** The names of the indexes on a table, and which of them are whole. */
async function selectIndexes(
  sql: Sql,
  table: TableName,
): Promise<{ name: string; is_valid: boolean }[]> {
  return [
    ...await sql<{ name: string; is_valid: boolean }[]>`
      select relname as name, indisvalid as is_valid from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = to_regclass(${qualified(table)})`,
  ];
}

async function strayNumbers(
  sql: Sql,
  table: TableName,
  { before, built }: Pick<SearchedTable, 'before' | 'built'>,
): Promise<string[]> {
  const known = new Set(
    before.fields.filter(numberingOf).map(({ name }) => attachmentName('number', table.collection, name)),
  );
  const rows = await sql<{ counter: string }[]>`
    select tgname as counter from pg_trigger join pg_proc on pg_proc.oid = tgfoid
    where tgrelid = to_regclass(${qualified(table)}) and not tgisinternal and proname = '_autonumber'`;
  return rows.filter(({ counter }) => !known.has(counter) && !built.has(numberingNameOf(counter)))
    .map(({ counter }) => undoNumbering(table, counter));
}

async function strayColumns(
  sql: Sql,
  table: TableName,
  { before, built }: Pick<SearchedTable, 'before' | 'built'>,
): Promise<string[]> {
  const known = new Set(['id', 'created_at', 'updated_at', searchColumn]);
  for (const { name } of before.fields) known.add(name);
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${qualified(table)}) and attnum > 0 and not attisdropped`;
  const isSearchBuilt = built.has(searchName(table));
  return rows.filter(({ name }) => !known.has(name) && !built.has(newColumnName({ name }))).flatMap((
    { name },
  ) => {
    if (name !== nextColumn) return [dropColumn(table, name)];
    return isSearchBuilt ? [] : [undoNextSearch(table)];
  });
}
