// A collection that is large enough for its indexes to be built beside writes.
import type { Pool, Sql } from '../../storage/connections/pool.ts';
import { qualified } from '../../storage/app/tables.ts';
import { ownerRole } from '../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../storage/sql/quote.ts';

/** Adds 5,000 records of 300 bytes, with a title of their own each. Its fields are `title`, a text, and any others. */
export async function fillCollection(pool: Pool, collection: string): Promise<string> {
  return await pool.transaction(async (sql) => {
    const schema = await schemaOf(sql, collection);
    await actAsOwner(sql, schema);
    await sql.unsafe(`insert into ${qualified({ schema, collection })} (id, title, created_at, updated_at)
      select gen_random_uuid(), n || repeat(' x', 150), now(), now() from generate_series(1, 5000) as n`);
    return schema;
  });
}

/** The schema of the app that has a collection of this name. */
async function schemaOf(sql: Sql, collection: string): Promise<string> {
  const [row] = await sql<{ schema: string }[]>`
    select schemaname as schema from pg_tables where tablename = ${collection}`;
  if (row === undefined) throw new Error('there is no such collection');
  return row.schema;
}

/** Gives a transaction of the provisioner the rights of an app's owner, and time. */
export async function actAsOwner(sql: Sql, schema: string): Promise<void> {
  await sql.unsafe(`set local role ${quoteIdentifier(ownerRole(schema))};
    set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = 0`);
}

/** The columns of a table, with their marks, and its indexes besides that of ids, with what is wrong with them. */
export async function describeTable(sql: Sql, schema: string, collection: string): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    with it as (
      select pg_class.oid from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = ${schema} and relname = ${collection}
    )
    select attname || coalesce(': ' || col_description(attrelid, attnum), '') as text
    from it join pg_attribute on attrelid = it.oid
    where attnum > 0 and not attisdropped and attname not in ('id', 'created_at', 'updated_at')
    union all
    select concat_ws(' ', case when indisvalid then 'index' else 'invalid index' end, 'of', attname,
      case when indisunique then 'unique' end)
    from it join pg_index on indrelid = it.oid join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where not indisprimary
    order by 1`;
  return rows.map(({ text }) => text);
}
