// The tables behind collections: created, altered and dropped as their definitions change. All statements run as the
// owner of the app's schema, which owns nothing else.
import { createHash } from 'node:crypto';
import type { CollectionDefinition, Field } from '../definition.ts';
import { kinds, pointsTo } from './fields/kinds.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';

/** The name of a collection's table. */
export interface TableName {
  schema: string;
  collection: string;
}

type Attachment = 'primary' | 'unique' | 'index' | 'reference';

const prefixes: Record<Attachment, string> = {
  primary: '_p_',
  unique: '_u_',
  index: '_i_',
  reference: '_r_',
};

/**
 * The name of a constraint or an index of a column. Indexes share their name space with tables, so it begins as no
 * collection's name can. It is a hash, because 63 bytes do not hold the names of both.
 */
export function attachmentName(attachment: Attachment, collection: string, field: string): string {
  const digest = createHash('sha256').update(`${collection}.${field}`).digest('hex');
  return prefixes[attachment] + digest.slice(0, 24);
}

/** The quoted, schema-qualified name. Every connection has an empty search_path. */
export function qualified({ schema, collection }: TableName): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(collection)}`;
}

/** Creates the table of a new collection. Throws `StorageError`. */
export async function createTable(
  sql: Sql,
  table: TableName,
  { kind, fields }: Pick<CollectionDefinition, 'kind' | 'fields'>,
): Promise<void> {
  const name = qualified(table);
  const primary = quoteIdentifier(attachmentName('primary', table.collection, 'id'));
  const columns = [
    `"id" uuid constraint ${primary} primary key${kind === 'auth' ? profileReference(table) : ''}`,
    ...fields.map((field) => columnDefinition(table, field)),
    '"created_at" timestamptz(3) not null',
    '"updated_at" timestamptz(3) not null',
  ];
  const indexes = fields.filter(hasIndex).map((field) => createIndexText(table, field));
  await sql.unsafe([`create table ${name} (${columns.join(', ')})`, ...indexes].join('; '));
}

/** The fields of a collection before and after a change. */
export interface FieldChange {
  before: readonly Field[];
  after: readonly Field[];
}

/** The fields that need a new column, and those that need a new index. */
export function addedFields(
  { collection }: TableName,
  { before, after }: FieldChange,
): { columns: Field[]; indexes: Field[] } {
  const columns = new Set(before.map(({ name }) => name));
  const indexes = new Set(before.map((field) => indexName(collection, field)));
  return {
    columns: after.filter(({ name }) => !columns.has(name)),
    indexes: after.filter((field) => hasIndex(field) && !indexes.has(indexName(collection, field))),
  };
}

/**
 * Alters a table from one definition to another: its columns, their references and indexes. Kinds and targets never
 * change. `hasAdded`: columns and indexes are there already. Throws `StorageError`: `conflict` for a unique field with
 * duplicates, `invalid` when a value is too long to be indexed or the table has had too many columns.
 */
export async function alterTable(
  sql: Sql,
  table: TableName,
  change: FieldChange,
  { hasAdded = false }: { hasAdded?: boolean } = {},
): Promise<void> {
  const { columns, indexes } = addedFields(table, change);
  const additions = [
    ...columns.map((field) => addColumnText(table, field)),
    ...indexes.map((field) => createIndexText(table, field)),
  ];
  const added = columns.map((field) => markColumnText(table, field, null));
  const statements = [...removals(table, change), ...(hasAdded ? added : additions)];
  if (statements.length > 0) await sql.unsafe(statements.join('; '));
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

function columnDefinition(table: TableName, field: Field): string {
  const target = pointsTo(field);
  const reference = target === undefined ? '' : ` ${referenceText(table, field, target)}`;
  return `${quoteIdentifier(field.name)} ${kinds[field.kind].column}${reference}`;
}

/** SQL that adds the column of a field. It is quick: a column without values is not checked against what it references. */
export function addColumnText(table: TableName, field: Field): string {
  return `alter table ${qualified(table)} add column ${columnDefinition(table, field)}`;
}

/** Marks a column that no definition has yet, as its comment. */
export const columnMark = 'bulkhead: of a field that is being added';

/** SQL that marks the column of a field, or takes its mark away. */
export function markColumnText(table: TableName, { name }: Field, mark: string | null): string {
  const comment = mark === null ? 'null' : quoteLiteral(mark);
  return `comment on column ${qualified(table)}.${quoteIdentifier(name)} is ${comment}`;
}

/** The name of the index of a field; undefined when it has none. */
export function indexName(collection: string, field: Field): string | undefined {
  if (field.unique === true) return attachmentName('unique', collection, field.name);
  return hasIndex(field) ? attachmentName('index', collection, field.name) : undefined;
}

/** True when a field has an index, a unique one included. */
export function hasIndex(field: Field): boolean {
  // To delete a record, PostgreSQL searches for references to it: without an index, in the whole table.
  return field.unique === true || field.index === true || pointsTo(field) !== undefined;
}

/** SQL that creates the index of a field. `concurrently`: beside writes, outside a transaction. */
export function createIndexText(table: TableName, field: Field, concurrently = false): string {
  const name = quoteIdentifier(indexName(table.collection, field) ?? '');
  const how = `${field.unique === true ? 'unique ' : ''}index${concurrently ? ' concurrently' : ''}`;
  return `create ${how} ${name} on ${qualified(table)} (${quoteIdentifier(field.name)})`;
}

function removals(table: TableName, { before, after }: FieldChange): string[] {
  const remaining = new Map(after.map((field) => [field.name, field]));
  return before.flatMap((field) => {
    const next = remaining.get(field.name);
    if (next === undefined) {
      return [`alter table ${qualified(table)} drop column ${quoteIdentifier(field.name)}`];
    }
    const index = indexName(table.collection, field);
    const isKept = index === undefined || index === indexName(table.collection, next);
    return [...(isKept ? [] : dropIndex(table, index)), ...changeReference(table, field, next)];
  });
}

/** Earlier releases had constraints of unique fields, whose indexes cannot be dropped alone. */
function dropIndex(table: TableName, index: string): string[] {
  const name = quoteIdentifier(index);
  return [
    `alter table ${qualified(table)} drop constraint if exists ${name}`,
    `drop index if exists ${quoteIdentifier(table.schema)}.${name}`,
  ];
}

/** What is stored need not be checked, since the old reference was in force until now: that would take long, and block writes. */
function changeReference(table: TableName, before: Field, after: Field): string[] {
  const target = pointsTo(after);
  if (target === undefined || onDelete(before) === onDelete(after)) return [];
  const name = quoteIdentifier(attachmentName('reference', table.collection, after.name));
  const column = quoteIdentifier(after.name);
  return [
    `alter table ${qualified(table)} drop constraint ${name}`,
    `alter table ${qualified(table)} add ${referenceText(table, after, target, column)} not valid`,
  ];
}

/** The reference of a column, in the definition of that column or of the table. */
function referenceText(table: TableName, field: Field, collection: string, column?: string): string {
  const name = quoteIdentifier(attachmentName('reference', table.collection, field.name));
  const target = collection === 'users' ? 'workspace.users' : qualified({ schema: table.schema, collection });
  const key = column === undefined ? '' : `foreign key (${column}) `;
  return `constraint ${name} ${key}references ${target} (id) on delete ${onDelete(field)}`;
}

/**
 * The second line of defence. The API does the same itself, record by record, because each is an event. Not `restrict`,
 * which would refuse a record whose referrers are deleted in the same statement.
 */
function onDelete({ cascade_delete, required }: Field): string {
  if (cascade_delete === true) return 'cascade';
  return required === true ? 'no action' : 'set null';
}
