// The tables behind collections: created, altered and dropped as their definitions change. All statements run as the
// owner of the app's schema, which owns nothing else.
import type { CollectionDefinition, Field } from '../../definition.ts';
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { undoNextSearch } from '../search/index-of-words.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import { endNumbering, numberingName, startNumbering } from './autonumber.ts';
import { addColumn, columnDefinition, newColumnAhead, newColumnName } from './columns.ts';
import { fillEmpty } from './fill.ts';
import type { Attached } from './attached.ts';
import { attachments, type TableDefinition } from './attachments.ts';
import { foundBuilds } from './strays.ts';

/** Creates the table of a new collection. Throws `StorageError`. */
export async function createTable(
  sql: Sql,
  table: TableName,
  { kind, fields, indexes, search }: Pick<CollectionDefinition, 'kind'> & TableDefinition,
): Promise<void> {
  const name = qualified(table);
  const primary = quoteIdentifier(attachmentName('primary', table.collection, 'id'));
  const columns = [
    `"id" uuid constraint ${primary} primary key${kind === 'auth' ? profileReference(table) : ''}`,
    ...fields.map(columnDefinition),
    '"created_at" timestamptz(3) not null',
    '"updated_at" timestamptz(3) not null',
  ];
  const attached = attachments(table, { fields, indexes, search }).map(({ add }) => add);
  await sql.unsafe([`create table ${name} (${columns.join(', ')})`, ...attached].join('; '));
}

/** A change of a table. */
export interface TableChange {
  before: TableDefinition;
  after: TableDefinition;
  /** The names of fields whose defaults the records get. */
  filled: ReadonlySet<string>;
  /** The names of what was built ahead. */
  built?: ReadonlySet<string> | undefined;
}

/**
 * Alters a table from one definition to another: its columns, their constraints and indexes. Kinds and targets never
 * change. The records that are there get the defaults of the `filled` fields, and the numbers of fields that number them.
 * Throws `StorageError`: `conflict` for a unique field or index with duplicates, `invalid` when a value is too long to be
 * indexed or the table has had too many columns.
 */
export async function alterTable(
  sql: Sql,
  table: TableName,
  { before, after, filled, built = new Set() }: TableChange,
): Promise<void> {
  const name = qualified(table);
  const old = attachments(table, before);
  const wanted = attachments(table, after);
  const held = becomingMany(before, after);
  const toFill = (fields: readonly Field[]) => fields.filter((field) => filled.has(field.name));
  const isOld = new Set(before.fields.map((field) => field.name));
  for (const field of toFill(after.fields)) {
    if (isOld.has(field.name) && !held.includes(field)) await fillEmpty(sql, table, field);
  }
  const [wasNumbered, isNumbered] = [before, after].map(({ fields }) => fields.filter(numberingOf));
  const { strays, ready } = await foundBuilds(sql, table, { before, old, built });
  const statements = [
    ...strays,
    ...without(old, wanted).map(({ remove }) => remove).reverse(),
    ...endNumbering(table, lacking(isNumbered, wasNumbered)),
    ...lacking(after.fields, before.fields).map((field) =>
      `alter table ${name} drop column ${quoteIdentifier(field.name)}`
    ),
    ...lacking(before.fields, after.fields).flatMap((field) =>
      ready.has(newColumnName(field))
        ? newColumnAhead(table, field, filled.has(field.name)).adopt
        : addColumn(table, field, filled.has(field.name))
    ),
    ...held.map((field) => `alter table ${name} ${holdMany(field)}`),
    ...lacking(wasNumbered, isNumbered).filter((field) => !ready.has(numberingName(table, field)))
      .map((field) => startNumbering(table, field)),
    ...without(wanted, old).map((attached) => addOrAdopt(attached, ready)),
  ].filter((text) => text !== '');
  if (statements.length > 0) await sql.unsafe(statements.join('; '));
  for (const field of toFill(held)) await fillEmpty(sql, table, field);
}

function addOrAdopt({ name, add, ahead }: Attached, ready: ReadonlySet<string>): string {
  return ahead !== undefined && ready.has(name) ? ahead.adopt : add;
}

/** The fields of the second list that the first lacks. */
function lacking(some: readonly Field[] = [], others: readonly Field[] = []): Field[] {
  const names = new Set(some.map((field) => field.name));
  return others.filter((field) => !names.has(field.name));
}

function without(some: readonly Attached[], others: readonly Attached[]): Attached[] {
  const known = new Set(others.map(({ add }) => add));
  return some.filter(({ add }) => !known.has(add));
}

/** Drops the table of a collection. Throws `StorageError`. */
export async function dropTable(sql: Sql, table: TableName, definition: TableDefinition): Promise<void> {
  const apart = attachments(table, definition).filter(({ isApart }) => isApart);
  // A build that was interrupted may have left a search.
  const removals = [...apart.map(({ remove }) => remove).reverse(), undoNextSearch(table)];
  await sql.unsafe(
    [...removals, `drop table ${qualified(table)}`, ...endNumbering(table, definition.fields)].join('; '),
  );
}

/**
 * A profile has the id of its user and is deleted with it. So there is one for each user, nobody can take another user's,
 * and what it shows of the user is never stale.
 */
function profileReference({ collection }: TableName): string {
  const reference = quoteIdentifier(attachmentName('reference', collection, 'id'));
  return ` constraint ${reference} references workspace.users (id) on delete cascade`;
}

/** The fields that hold one value before, and many after. */
function becomingMany(before: TableDefinition, after: TableDefinition): Field[] {
  const ofOne = new Set(before.fields.filter(({ many }) => many !== true).map(({ name }) => name));
  return after.fields.filter(({ name, many }) => many === true && ofOne.has(name));
}

function holdMany(field: Field): string {
  const column = quoteIdentifier(field.name);
  return `alter ${column} type ${kindOf(field).column} ` +
    `using case when ${column} is null then '${noItems}' else array[${column}] end, ` +
    `alter ${column} set not null, alter ${column} set default '${noItems}'`;
}
