// Rows of an app's `_collections`: the definitions of its collections.
import { collectionRules } from './access-rules.ts';
import type {
  CollectionDefinition,
  CollectionIndex,
  CollectionKind,
  Field,
  SearchSetting,
} from '../definition.ts';
import type { Connection, Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** The members of a definition that a change sets. */
export interface CollectionChange {
  id: string;
  fields: readonly Field[];
  indexes: readonly CollectionIndex[];
  search?: SearchSetting | null | undefined;
  /** The query of a view. */
  query?: string | null | undefined;
  now: Date;
}

/** The timeout of one statement that changes a table, in milliseconds. An index over a large table takes long. */
export const changeTimeoutMs = 60_000;

const columns = 'id, kind, fields, indexes, search, query, version, created_at, updated_at';

function collectionsTable(schema: string): string {
  return `${quoteIdentifier(schema)}._collections`;
}

/** All collections of an app, by id. */
export async function selectCollections(sql: Sql, schema: string): Promise<CollectionDefinition[]> {
  return [
    ...await sql.unsafe<CollectionDefinition[]>(
      `select ${columns}, ${collectionRules(schema, 'c.id')} as rules from ${
        collectionsTable(schema)
      } as c order by id`,
    ),
  ];
}

/** The size of the fields and indexes of all collections of an app together, as JSON, in bytes. */
export async function definitionBytes(sql: Sql, schema: string): Promise<number> {
  const [row] = await sql.unsafe<{ size: number }[]>(
    `select coalesce(sum(octet_length(fields::text) + octet_length(indexes::text) + coalesce(octet_length(query), 0)), 0)::float8 as size from ${
      collectionsTable(schema)
    }`,
  );
  return row?.size ?? 0;
}

/**
 * Lets one transaction at a time change the collections of an app, and gives it the time that an index over a large
 * table takes. Advisory locks are shared by a database, so the schema's name is part of the key.
 */
export async function lockCollections(sql: Sql, schema: string): Promise<void> {
  await sql.unsafe(
    `set local statement_timeout = ${changeTimeoutMs}; set local transaction_timeout = 0; set local lock_timeout = '2s'`,
  );
  await sql`select pg_advisory_xact_lock(hashtextextended(${`collections of ${schema}`}, 0))`;
}

/**
 * Lets one session at a time build indexes of an app, until it is closed. Waits a moment for changes that have begun. Throws
 * `StorageError` `timeout`.
 */
export async function lockBuilds(connection: Connection, schema: string): Promise<void> {
  await connection.transaction(async (sql) => {
    await sql`set local lock_timeout = '5s'`;
    await sql`select pg_advisory_lock(hashtextextended(${buildKey(schema)}, 0))`;
  });
}

/** Keeps others from building indexes until the transaction has ended; false while another session builds some. */
export async function keepFromBuilding(sql: Sql, schema: string): Promise<boolean> {
  const [row] = await sql<{ is_free: boolean }[]>`
    select pg_try_advisory_xact_lock_shared(hashtextextended(${buildKey(schema)}, 0)) as is_free`;
  return row?.is_free === true;
}

function buildKey(schema: string): string {
  return `index builds of ${schema}`;
}

/**
 * Adds a definition; false when there is one of that id, which stays as it is. Versions begin at a random number. So a
 * collection that is made again under the same id has other versions, and other prepared statements.
 */
export async function insertCollection(
  sql: Sql,
  schema: string,
  { id, kind, fields, indexes, search, query, now }: CollectionChange & { kind: CollectionKind },
): Promise<boolean> {
  const inserted = await sql.unsafe(
    `insert into ${collectionsTable(schema)} (${columns})
     values ($1, $2, $3::text::jsonb, $4::text::jsonb, $5::text::jsonb, $6, floor(random() * 1000000000), $7, $7) on conflict (id) do nothing`,
    [id, kind, JSON.stringify(fields), JSON.stringify(indexes), textOf(search), query ?? null, now],
  );
  return inserted.count === 1;
}

/** Replaces the fields, the indexes and the query of a definition and increments its version. */
export async function updateCollection(
  sql: Sql,
  schema: string,
  { id, fields, indexes, search, query, now }: CollectionChange,
): Promise<void> {
  await sql.unsafe(
    `update ${collectionsTable(schema)}
     set fields = $2::text::jsonb, indexes = $3::text::jsonb, search = $4::text::jsonb, query = $5, version = version + 1, updated_at = $6
     where id = $1`,
    [id, JSON.stringify(fields), JSON.stringify(indexes), textOf(search), query ?? null, now],
  );
}

function textOf(search: SearchSetting | null | undefined): string | null {
  return search === null || search === undefined ? null : JSON.stringify(search);
}

/** Removes a definition. */
export async function deleteCollection(sql: Sql, schema: string, id: string): Promise<void> {
  await sql.unsafe(`delete from ${collectionsTable(schema)} where id = $1`, [id]);
}
