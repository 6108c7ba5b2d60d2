// The tables behind collections: created, altered and dropped as their definitions change. All statements run as the
// owner of the app's schema, which owns nothing else.
import type { CollectionDefinition, Field } from '../../definition.ts';
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { kinds } from '../fields/kinds.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import { type Attached, attachments, type TableDefinition } from './attachments.ts';

/** Creates the table of a new collection. Throws `StorageError`. */
export async function createTable(
  sql: Sql,
  table: TableName,
  { kind, fields, indexes }: Pick<CollectionDefinition, 'kind'> & TableDefinition,
): Promise<void> {
  const name = qualified(table);
  const primary = quoteIdentifier(attachmentName('primary', table.collection, 'id'));
  const columns = [
    `"id" uuid constraint ${primary} primary key${kind === 'auth' ? profileReference(table) : ''}`,
    ...fields.map(columnDefinition),
    '"created_at" timestamptz(3) not null',
    '"updated_at" timestamptz(3) not null',
  ];
  const attached = attachments(table, { fields, indexes }).map(({ add }) => add);
  await sql.unsafe([`create table ${name} (${columns.join(', ')})`, ...attached].join('; '));
}

/**
 * Alters a table from one definition to another: its columns, their constraints and indexes. Kinds and targets never
 * change. Throws `StorageError`: `conflict` for a unique field or index with duplicates, `invalid` when a value is too
 * long to be indexed or the table has had too many columns.
 */
export async function alterTable(
  sql: Sql,
  table: TableName,
  { before, after }: { before: TableDefinition; after: TableDefinition },
): Promise<void> {
  const name = qualified(table);
  const old = attachments(table, before);
  const wanted = attachments(table, after);
  const statements = [
    ...without(old, wanted).map(({ remove }) => remove),
    ...missingFrom(after, before).map((field) =>
      `alter table ${name} drop column ${quoteIdentifier(field.name)}`
    ),
    ...missingFrom(before, after).map((field) => `alter table ${name} add column ${columnDefinition(field)}`),
    ...without(wanted, old).map(({ add }) => add),
  ];
  if (statements.length > 0) await sql.unsafe(statements.join('; '));
}

/** The fields of the second definition that the first lacks. */
function missingFrom(one: TableDefinition, other: TableDefinition): Field[] {
  const names = new Set(one.fields.map((field) => field.name));
  return other.fields.filter((field) => !names.has(field.name));
}

function without(some: readonly Attached[], others: readonly Attached[]): Attached[] {
  const known = new Set(others.map(({ add }) => add));
  return some.filter(({ add }) => !known.has(add));
}

/** Drops the table of a collection. Throws `StorageError`. */
export async function dropTable(sql: Sql, table: TableName): Promise<void> {
  await sql.unsafe(`drop table ${qualified(table)}`);
}

/**
 * A profile has the id of its user and is deleted with it. So there is one for each user, nobody can take another user's,
 * and what it shows of the user is never stale.
 */
function profileReference({ collection }: TableName): string {
  const reference = quoteIdentifier(attachmentName('reference', collection, 'id'));
  return ` constraint ${reference} references workspace.users (id) on delete cascade`;
}

function columnDefinition(field: Field): string {
  return `${quoteIdentifier(field.name)} ${kinds[field.kind].column}`;
}
