// The views behind collections of kind `view`. Each is two: one with the query as it was written, and over it one with the name of the
// collection and the types of its fields. Both belong to a role that may read the collections of its app and nothing else.
import type { CollectionDefinition, Field } from '../../definition.ts';
import type { Sql } from '../../connections/pool.ts';
import { viewerRole } from '../../sql/ids.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import { checkBreadth, checkQuery } from './check.ts';
import { checkOwnColumns, describeColumns, fieldColumns, fieldOf, selectRowsOf } from './columns.ts';
import { asQuery } from './refused-query.ts';

/** A view that is to be made. */
export interface ViewRequest {
  query: string;
  /** The app's collections, which the query may read. */
  collections: ReadonlyMap<string, CollectionDefinition>;
  /** Checks the names of the columns that become fields. Throws. */
  checkNames: (names: readonly string[]) => void;
}

/**
 * Makes a view and returns its fields. In a transaction of the schema's owner, which an error must end. Throws `RefusedQuery`.
 */
export async function createView(
  sql: Sql,
  view: TableName,
  { query, collections, checkNames }: ViewRequest,
): Promise<readonly Field[]> {
  const inner = queryOf(view);
  const { schema } = view;
  // Other changes of collections may take longer.
  await sql`set local statement_timeout = '5s'`;
  const viewer = quoteIdentifier(viewerRole(schema));
  await sql.unsafe(`grant create on schema ${quoteIdentifier(schema)} to ${viewer}`);
  await within(sql, schema, async () => {
    const text = `create view ${qualified(inner)} as ${query}`;
    // What is prepared is one statement alone.
    await asQuery(() => sql.unsafe(text, [], { prepare: true }).describe());
    await asQuery(() => sql.unsafe(text));
  });
  const read = await checkQuery(sql, inner, new Set(collections.keys()));
  await checkBreadth(sql, inner);
  const tables = read.filter(({ isView }) => !isView).map(({ name }) =>
    qualified({ schema, collection: name })
  );
  if (tables.length > 0) await sql.unsafe(`grant select on ${tables.join(', ')} to ${viewer}`);
  const { columns, fields } = await readColumns(sql, view, collections);
  checkOwnColumns(columns);
  checkNames(fields.map(({ name }) => name));
  const name = qualified(view);
  await within(sql, schema, async () => {
    await asQuery(() => sql.unsafe(`create view ${name} as ${selectRowsOf(inner, columns, fields)}`));
    // PostgreSQL checks the rights of the role, and computes what is constant.
    await asQuery(() => sql.unsafe(`select * from ${name} limit 0`));
    await sql.unsafe(`grant select on ${name} to ${quoteIdentifier(schema)}`);
  });
  await sql.unsafe(`revoke create on schema ${quoteIdentifier(schema)} from ${viewer}`);
  return fields;
}

/** Drops a view. Throws `StorageError`. */
export async function dropView(sql: Sql, view: TableName): Promise<void> {
  await sql.unsafe(`drop view ${qualified(view)}; drop view ${qualified(queryOf(view))}`);
}

/** The fields that a view has by now, after a change of what it reads. */
export async function readViewFields(
  sql: Sql,
  view: TableName,
  collections: ReadonlyMap<string, CollectionDefinition>,
): Promise<readonly Field[]> {
  return (await readColumns(sql, view, collections)).fields;
}

/** The query of a view, as PostgreSQL writes it: with the names that columns have by now. */
export async function readViewQuery(sql: Sql, view: TableName): Promise<string> {
  const inner = queryOf(view);
  return await finding(sql, view.schema, async () => {
    const [row] = await sql<{ query: string }[]>`
      select pg_get_viewdef(c.oid) as query from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${inner.schema} and c.relname = ${inner.collection}`;
    return (row?.query ?? '').trim().replace(/;$/, '');
  });
}

/** A column of a collection that a view needs; null when it needs the collection for its rows alone. */
export interface ViewNeed {
  /** The id of the view. */
  view: string;
  column: string | null;
}

/** The views that read a collection, and what they need of it. */
export async function viewsOf(
  sql: Sql,
  { schema, collection }: TableName,
  collections: ReadonlyMap<string, CollectionDefinition>,
): Promise<readonly ViewNeed[]> {
  const views = [...collections.values()].filter(({ kind }) => kind === 'view');
  if (views.length === 0) return [];
  const byQuery = new Map(views.map(({ id }) => [queryOf({ schema, collection: id }).collection, id]));
  const rows = await sql<{ name: string; column: string | null }[]>`
    select distinct v.relname as name, a.attname as column
    from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
    join pg_class t on t.oid = d.refobjid join pg_namespace n on n.oid = t.relnamespace
    left join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid and d.refobjsubid > 0
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      and n.nspname = ${schema} and t.relname = ${collection} order by 1, 2`;
  return rows.flatMap(({ name, column }) => {
    const view = byQuery.get(name);
    return view === undefined || view === collection ? [] : [{ view, column }];
  });
}

/** The name of the view that has the query. */
function queryOf({ schema, collection }: TableName): TableName {
  return { schema, collection: attachmentName('query', collection, '') };
}

async function readColumns(
  sql: Sql,
  view: TableName,
  collections: ReadonlyMap<string, CollectionDefinition>,
) {
  const query = await readViewQuery(sql, view);
  const columns = await finding(sql, view.schema, () => describeColumns(sql, view.schema, query));
  return { columns, fields: fieldColumns(columns).map((column) => fieldOf(column, collections)) };
}

/** Runs statements as the role that owns the views of a schema, and finds names there. */
async function within(sql: Sql, schema: string, work: () => Promise<void>): Promise<void> {
  await sql.unsafe(`set local role ${quoteIdentifier(viewerRole(schema))}`);
  await finding(sql, schema, work);
  await sql`set local role none`;
}

/** Runs statements that find names in a schema. */
async function finding<Result>(sql: Sql, schema: string, work: () => Promise<Result>): Promise<Result> {
  await sql.unsafe(`set local search_path = ${quoteIdentifier(schema)}, pg_temp`);
  const result = await work();
  await sql`set local search_path = ''`;
  return result;
}
