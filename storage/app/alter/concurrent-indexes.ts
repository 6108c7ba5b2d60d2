// Building indexes of a large table while its records are written.
import type { Connection, Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { qualified, type TableName } from '../tables.ts';
import type { Attached } from './attached.ts';
import { attachments, type TableDefinition } from './attachments.ts';

/** Below this size, in bytes, an index is built within the change: writers wait for some tenths of a second. */
const maxBlockingBytes = 8 * 1_048_576;

/** A change of a table, as far as indexes go. */
export interface IndexChange {
  before: TableDefinition;
  after: TableDefinition;
}

/** Indexes to build ahead of a change, by their names. */
export type IndexBuilds = ReadonlyMap<string, string>;

/**
 * The statements that build the indexes which a change adds over columns that are there already. An index over a new column
 * is built within the change: there is nothing in it yet.
 */
export function indexBuilds(table: TableName, { before, after }: IndexChange): IndexBuilds {
  const old = new Set(attachments(table, before).map(({ name }) => name));
  // A field that holds many from now on has another column.
  const isMany = new Map(after.fields.map(({ name, many = false }) => [name, many]));
  const kept = before.fields.filter(({ name, many = false }) => isMany.get(name) === many);
  const columns = new Set(['id', 'created_at', 'updated_at', ...kept.map(({ name }) => name)]);
  const added = attachments(table, after).filter(({ name, concurrently }) =>
    !old.has(name) && concurrently?.columns.every((column) => columns.has(column)) === true
  );
  return new Map(added.flatMap(({ name, concurrently }) => concurrently ? [[name, concurrently.build]] : []));
}

/** True for a table whose records cannot be written for too long while an index is built within a change. */
export async function isLarge(sql: Sql, table: TableName): Promise<boolean> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_table_size(to_regclass(${qualified(table)}))::float8 as bytes`;
  return (row?.bytes ?? 0) > maxBlockingBytes;
}

/**
 * Builds indexes one after another, outside a transaction. If one fails, none is left. Throws `StorageError`: `conflict` for
 * a unique one with duplicates.
 */
export async function buildConcurrently(
  connection: Connection,
  table: TableName,
  builds: IndexBuilds,
): Promise<void> {
  // What a process that was killed has left under these names.
  await dropConcurrently(connection, table, builds.keys());
  try {
    for (const build of builds.values()) await connection.run((sql) => sql.unsafe(build));
  } catch (error) {
    await dropBuilt(connection, table, builds);
    throw error;
  }
}

/** Drops indexes of a change that has failed. If that fails too, the next change of the collection does it. */
export async function dropBuilt(
  connection: Connection,
  table: TableName,
  builds: IndexBuilds,
): Promise<void> {
  await Promise.allSettled([dropConcurrently(connection, table, builds.keys())]);
}

/** Drops indexes that are there, valid or not, without keeping records from being written. Throws `StorageError`. */
async function dropConcurrently(
  connection: Connection,
  { schema }: TableName,
  names: Iterable<string>,
): Promise<void> {
  for (const name of names) {
    const index = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
    await connection.run((sql) => sql.unsafe(`drop index concurrently if exists ${index}`));
  }
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

/** Only indexes of declared fields have names that begin so. */
const declared = /^_[ui]_/;

/**
 * The statements that drop what interrupted builds have left on a table, and which of those that were built ahead are whole.
 */
export async function foundIndexes(
  sql: Sql,
  table: TableName,
  { old, built }: { old: readonly Attached[]; built: ReadonlySet<string> },
): Promise<{ strays: string[]; ready: ReadonlySet<string> }> {
  const known = new Set(old.map(({ name }) => name));
  const others = (await selectIndexes(sql, table)).filter(({ name }) =>
    !known.has(name) && declared.test(name)
  );
  const ready = new Set(
    others.filter(({ name, is_valid }) => is_valid && built.has(name)).map(({ name }) => name),
  );
  const strays = others.filter(({ name }) => !ready.has(name)).map(({ name }) =>
    `drop index ${quoteIdentifier(table.schema)}.${quoteIdentifier(name)}`
  );
  return { strays, ready };
}
