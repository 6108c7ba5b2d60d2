// The tables behind collections: created, altered and dropped as their definitions change. All statements run as the
// owner of the app's schema, which owns nothing else.
import { createHash } from 'node:crypto';
import type { CollectionDefinition, Field } from '../definition.ts';
import { kinds, pointsTo } from './fields/kinds.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

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
    ...fields.map(columnDefinition),
    '"created_at" timestamptz(3) not null',
    '"updated_at" timestamptz(3) not null',
  ];
  const attached = fields.flatMap((field) => attachments(table, field)).map(({ add }) => add);
  await sql.unsafe([`create table ${name} (${columns.join(', ')})`, ...attached].join('; '));
}

/**
 * Alters a table from one definition to another: its columns, their constraints and indexes. Kinds and targets never
 * change. Throws `StorageError`: `conflict` for a unique field with duplicates, `invalid` when a value is too long to
 * be indexed or the table has had too many columns.
 */
export async function alterTable(
  sql: Sql,
  table: TableName,
  { before, after }: { before: readonly Field[]; after: readonly Field[] },
): Promise<void> {
  const statements: string[] = [];
  const name = qualified(table);
  const remaining = new Map(after.map((field) => [field.name, field]));
  for (const field of before) {
    const next = remaining.get(field.name);
    if (next === undefined) statements.push(`alter table ${name} drop column ${quoteIdentifier(field.name)}`);
    else statements.push(...changeAttachments(table, field, next));
  }
  const known = new Set(before.map((field) => field.name));
  for (const field of after) {
    if (known.has(field.name)) continue;
    statements.push(`alter table ${name} add column ${columnDefinition(field)}`);
    statements.push(...attachments(table, field).map(({ add }) => add));
  }
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

function columnDefinition(field: Field): string {
  return `${quoteIdentifier(field.name)} ${kinds[field.kind].column}`;
}

/** One constraint or index of a column, as the statements that make and remove it. */
interface Attached {
  add: string;
  remove: string;
}

function changeAttachments(table: TableName, before: Field, after: Field): string[] {
  const old = attachments(table, before);
  const wanted = attachments(table, after);
  const has = (list: readonly Attached[], { add }: Attached) => list.some((other) => other.add === add);
  return [
    ...old.filter((attached) => !has(wanted, attached)).map(({ remove }) => remove),
    ...wanted.filter((attached) => !has(old, attached)).map(({ add }) => add),
  ];
}

/** True when a field has an index, a unique one included. */
export function hasIndex(field: Field): boolean {
  // To delete a record, PostgreSQL searches for references to it: without an index, in the whole table.
  return field.unique === true || field.index === true || pointsTo(field) !== undefined;
}

function attachments(table: TableName, field: Field): Attached[] {
  const attached: Attached[] = [];
  if (field.unique === true) attached.push(uniqueConstraint(table, field));
  else if (hasIndex(field)) attached.push(fieldIndex(table, field));
  const target = pointsTo(field);
  if (target !== undefined) attached.push(foreignKey(table, field, target));
  return attached;
}

function uniqueConstraint(table: TableName, field: Field): Attached {
  const name = quoteIdentifier(attachmentName('unique', table.collection, field.name));
  const column = quoteIdentifier(field.name);
  return {
    add: `alter table ${qualified(table)} add constraint ${name} unique (${column})`,
    remove: `alter table ${qualified(table)} drop constraint ${name}`,
  };
}

function fieldIndex(table: TableName, field: Field): Attached {
  const index = attachmentName('index', table.collection, field.name);
  return {
    add: `create index ${quoteIdentifier(index)} on ${qualified(table)} (${quoteIdentifier(field.name)})`,
    remove: `drop index ${quoteIdentifier(table.schema)}.${quoteIdentifier(index)}`,
  };
}

function foreignKey(table: TableName, field: Field, collection: string): Attached {
  const name = quoteIdentifier(attachmentName('reference', table.collection, field.name));
  const target = collection === 'users' ? 'workspace.users' : qualified({ schema: table.schema, collection });
  return {
    add: `alter table ${qualified(table)} add constraint ${name} ` +
      `foreign key (${quoteIdentifier(field.name)}) references ${target} (id) on delete ${onDelete(field)}`,
    remove: `alter table ${qualified(table)} drop constraint ${name}`,
  };
}

/**
 * The second line of defence. The API does the same itself, record by record, because each is an event. Not `restrict`,
 * which would refuse a record whose referrers are deleted in the same statement.
 */
function onDelete({ cascade_delete, required }: Field): string {
  if (cascade_delete === true) return 'cascade';
  return required === true ? 'no action' : 'set null';
}
