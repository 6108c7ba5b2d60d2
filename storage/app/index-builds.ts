// Indexes of large tables. They are built beside writes before the change that wants them, which would block writes for as
// long as that takes.
import { buildTimeoutMs } from '../connections/build-connections.ts';
import type { Databases } from '../connections/databases.ts';
import type { Connection, Sql } from '../connections/pool.ts';
import { deleteBuild, insertBuild, listBuilds } from '../control/index-builds.ts';
import type { CollectionDefinition } from '../definition.ts';
import { StorageError } from '../errors.ts';
import { listSchemas } from '../workspace/apps.ts';
import type { AppLocation } from '../provision/app.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { lockCollections, selectCollections } from './collections.ts';
import {
  addColumnText,
  addedFields,
  columnMark,
  createIndexText,
  type FieldChange,
  indexName,
  markColumnText,
  qualified,
  type TableName,
} from './tables.ts';

/** The index of a smaller table is there sooner than a connection to build it on. */
const maxPlainBytes = 1_048_576;
/** How long writes wait behind a change of columns that itself waits for a lock, in milliseconds. */
const lockTimeoutMs = 2_000;

/** A column or index that no definition has, left by a change that failed or was interrupted. */
interface Leftover extends TableName {
  /** Of the index, or of the column. */
  name: string;
  isIndex: boolean;
}

/** The builds of one change of an app's collections. */
export class IndexBuild {
  readonly #databases: Databases;
  readonly #place: AppLocation;
  #hasBegun = false;

  constructor(databases: Databases, place: AppLocation) {
    this.#databases = databases;
    this.#place = place;
  }

  /**
   * Adds the new columns and indexes of a large table, and returns true; false when the change should add them itself.
   * They are leftovers until it is committed. `sql` is the transaction of the change. It has the app's lock, but no lock
   * on the table and no snapshot, since PostgreSQL waits for those. Throws `StorageError`, and `QueueRefusal` while others
   * build.
   */
  async run(sql: Sql, collection: string, change: FieldChange): Promise<boolean> {
    const { schema } = this.#place;
    const table = { schema, collection };
    const leftovers = await listLeftovers(sql, schema, [{ id: collection, fields: change.before }]);
    const isBuild = addedFields(table, change).indexes.length > 0 && await isLarge(sql, table);
    if (!isBuild && leftovers.length === 0) return false;
    await beIdle(sql);
    await this.#databases.builds.run(this.#place, async (connection) => {
      this.#hasBegun = true;
      await this.#databases.control.run((control) => insertBuild(control, this.#place));
      await dropLeftovers(connection, leftovers);
      if (isBuild) await addFields(connection, table, change);
    });
    return isBuild;
  }

  /** Ends what was begun, once the change is committed or rolled back. Throws as `clearBuild` does. */
  async end(): Promise<void> {
    if (this.#hasBegun) await clearBuild(this.#databases, this.#place);
  }
}

/**
 * Drops what changes of an app have left, and notes that nothing is. Throws `StorageError`: `timeout` while a change is
 * running, which does the same; and `QueueRefusal` while others build.
 */
async function clearBuild(databases: Databases, place: AppLocation): Promise<void> {
  const { database, schema } = place;
  await databases.appOwner(database, schema).transaction(async (sql) => {
    await lockCollections(sql, schema);
    const leftovers = await listLeftovers(sql, schema, await selectCollections(sql, schema));
    if (leftovers.length > 0) {
      await beIdle(sql);
      await databases.builds.run(place, (connection) => dropLeftovers(connection, leftovers));
    }
    await databases.control.run((control) => deleteBuild(control, place));
  }, buildTimeoutMs);
}

/**
 * Drops what interrupted changes have left, of all apps that are not deleted. Skips those in which a change is running.
 * One that fails does not stop the others. Throws the first error.
 */
export async function clearBuilds(databases: Databases): Promise<void> {
  const failures: unknown[] = [];
  for (const place of await databases.control.run(listBuilds)) {
    try {
      const schemas = await databases.workspace(place.database).run(listSchemas);
      if (schemas.has(place.schema)) await clearBuild(databases, place);
      else await databases.control.run((sql) => deleteBuild(sql, place));
    } catch (error) {
      if (!(error instanceof StorageError && error.failure === 'timeout')) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Lets a transaction be idle. A statement that needs no snapshot ends the one before, which keeps its own until then. */
async function beIdle(sql: Sql): Promise<void> {
  await sql.unsafe(`set local idle_in_transaction_session_timeout = ${buildTimeoutMs}`);
}

/** Each index waits for the writes and reads that are running, in the whole database. */
async function addFields(connection: Connection, table: TableName, change: FieldChange): Promise<void> {
  const { columns, indexes } = addedFields(table, change);
  if (columns.length > 0) {
    await alterQuickly(
      connection,
      columns.flatMap((field) => [addColumnText(table, field), markColumnText(table, field, columnMark)]),
    );
  }
  for (const field of indexes) {
    await connection.run((sql) => sql.unsafe(createIndexText(table, field, true)));
  }
}

async function dropLeftovers(connection: Connection, leftovers: readonly Leftover[]): Promise<void> {
  for (const { schema, name } of leftovers.filter(({ isIndex }) => isIndex)) {
    const index = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
    // The connection that builds it may have outlived its process by a moment. This waits for it, and blocks nobody meanwhile.
    await connection.run((sql) => sql.unsafe(`drop index concurrently if exists ${index}`));
  }
  const columns = leftovers.filter(({ isIndex }) => !isIndex);
  await alterQuickly(
    connection,
    columns.map((column) =>
      `alter table ${qualified(column)} drop column if exists ${quoteIdentifier(column.name)}`
    ),
  );
}

async function alterQuickly(connection: Connection, statements: readonly string[]): Promise<void> {
  if (statements.length === 0) return;
  await connection.transaction((sql) =>
    sql.unsafe([`set local lock_timeout = ${lockTimeoutMs}`, ...statements].join('; '))
  );
}

async function isLarge(sql: Sql, table: TableName): Promise<boolean> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_catalog.pg_relation_size(${qualified(table)}::regclass)::float8 as bytes`;
  return row !== undefined && row.bytes > maxPlainBytes;
}

/** The leftovers in the tables of these collections. They are told by their names, which no index of another maker has. */
async function listLeftovers(
  sql: Sql,
  schema: string,
  collections: readonly Pick<CollectionDefinition, 'id' | 'fields'>[],
): Promise<Leftover[]> {
  const known = collections.flatMap(({ id, fields }) => fields.map((field) => indexName(id, field) ?? ''));
  const tables = collections.map(({ id }) => id);
  return await sql<Leftover[]>`
    with tables as (
      select oid, relname from pg_catalog.pg_class
      where relnamespace = ${
    quoteIdentifier(schema)
  }::regnamespace and relkind = 'r' and relname = any(${tables}::text[])
    )
    select ${schema} as schema, tables.relname as collection, pg_class.relname as name, true as "isIndex"
    from tables join pg_catalog.pg_index on indrelid = tables.oid join pg_catalog.pg_class on pg_class.oid = indexrelid
    where pg_class.relname ~ '^_[ui]_[0-9a-f]{24}$' and pg_class.relname <> all(${known}::text[])
    union all
    select ${schema}, tables.relname, attname, false
    from tables join pg_catalog.pg_attribute on attrelid = tables.oid
    where attnum > 0 and not attisdropped and pg_catalog.col_description(attrelid, attnum) = ${columnMark}`;
}
