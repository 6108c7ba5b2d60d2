// Checks what a query uses, by the tree that PostgreSQL has made of it: after all names were resolved, so that no spelling hides
// anything.
import type { Sql } from '../../connections/pool.ts';
import { formatArray } from '../../sql/text-array.ts';
import type { TableName } from '../tables.ts';
import { allowedFunctions, allowedNodes, allowedTypes, lastTimeFunction } from './allowed.ts';
import { partsOf, type QueryParts } from './query-tree.ts';
import { RefusedQuery } from './refused-query.ts';

/** A relation that a query reads. */
export interface ReadRelation {
  name: string;
  isView: boolean;
}

/** Relations that a view may read, those that other views read for it included. PostgreSQL plans a join of them. */
const maxRelations = 32;

/** The names of what may be read: the ids of the app's collections. */
export type ReadableNames = ReadonlySet<string>;

/** The collections that the query of a view reads. Throws `RefusedQuery` for everything that a view may not use. */
export async function checkQuery(
  sql: Sql,
  view: TableName,
  readable: ReadableNames,
): Promise<readonly ReadRelation[]> {
  const parts = partsOf(await readTree(sql, view));
  for (const node of parts.nodes) {
    if (!allowedNodes.has(node)) {
      throw new RefusedQuery('use', `it has a clause that no view may have (${node})`);
    }
  }
  if (parts.valueFunctions.some((operation) => operation > lastTimeFunction)) {
    throw new RefusedQuery('use', 'it asks for the role or the schema');
  }
  const relations = await checkRelations(sql, view, { parts, readable });
  await checkFunctions(sql, parts);
  await checkOperators(sql, parts);
  await checkTypes(sql, parts);
  return relations;
}

async function readTree(sql: Sql, { schema, collection }: TableName): Promise<string> {
  const [row] = await sql<{ tree: string }[]>`
    select r.ev_action::text as tree from pg_rewrite r join pg_class c on c.oid = r.ev_class
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = ${collection} and c.relkind = 'v'`;
  if (row === undefined) throw new RefusedQuery('shape', 'it makes no view');
  return row.tree;
}

async function checkRelations(
  sql: Sql,
  view: TableName,
  { parts, readable }: { parts: QueryParts; readable: ReadableNames },
): Promise<readonly ReadRelation[]> {
  const rows = await sql<{ id: number; name: string; schema: string; is_view: boolean }[]>`
    select c.oid::int8::float8 as id, c.relname as name, n.nspname as schema, c.relkind = 'v' as is_view
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = any(${
    idsOf(parts.relations)
  }::text::oid[])`;
  const found = rows.filter(({ name, schema }) => name !== view.collection || schema !== view.schema);
  for (const { name, schema } of found) {
    if (schema === view.schema && readable.has(name)) continue;
    const shown = schema === view.schema || schema === 'pg_catalog' ? name : `${schema}.${name}`;
    throw new RefusedQuery('use', `it reads ${shown}, which is no collection of the app`);
  }
  return found.map(({ name, is_view }) => ({ name, isView: is_view }));
}

/** Throws `RefusedQuery` when the views below a view read too much all together. */
export async function checkBreadth(sql: Sql, view: TableName): Promise<void> {
  const [row] = await sql<{ relations: number }[]>`
    with recursive read as (
      select c.oid, 1 as depth from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${view.schema} and c.relname = ${view.collection}
      union all
      select t.oid, read.depth + 1 from read
      join pg_rewrite r on r.ev_class = read.oid
      cross join lateral regexp_matches(r.ev_action::text, ':rtekind 0 :relid (\\d+)', 'g') as m (ids)
      join pg_class t on t.oid = m.ids[1]::oid and t.oid <> read.oid
      where read.depth < 40)
    select count(*)::float8 as relations from (select from read where depth > 1 limit ${
    maxRelations * 20
  }) as every`;
  const relations = row?.relations ?? 0;
  if (relations > maxRelations) {
    throw new RefusedQuery(
      'shape',
      `it reads ${relations} collections and views, and at most ${maxRelations} are allowed`,
    );
  }
}

async function checkFunctions(sql: Sql, { functions }: QueryParts): Promise<void> {
  const rows = await sql<{ name: string; is_own: boolean; is_volatile: boolean; is_cast: boolean }[]>`
    select p.proname as name, n.nspname = 'pg_catalog' as is_own, p.provolatile = 'v' as is_volatile,
      exists (select from pg_cast where castfunc = p.oid) as is_cast
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.oid = any(${idsOf(functions)}::text::oid[])`;
  for (const { name, is_own, is_volatile, is_cast } of rows) {
    if (is_volatile) throw new RefusedQuery('use', `the function ${name} is volatile`);
    if (!is_own || !(is_cast || allowedFunctions.has(name))) {
      throw new RefusedQuery('use', `the function ${name} is not one that a view may call`);
    }
  }
}

async function checkOperators(sql: Sql, { operators }: QueryParts): Promise<void> {
  const [refused] = await sql<{ name: string }[]>`
    select o.oprname as name from pg_operator o join pg_namespace n on n.oid = o.oprnamespace
    join pg_proc p on p.oid = o.oprcode join pg_namespace f on f.oid = p.pronamespace
    where o.oid = any(${idsOf(operators)}::text::oid[])
      and (n.nspname <> 'pg_catalog' or f.nspname <> 'pg_catalog' or p.provolatile = 'v') limit 1`;
  if (refused !== undefined) {
    throw new RefusedQuery('use', `the operator ${refused.name} is not one that a view may use`);
  }
}

async function checkTypes(sql: Sql, { types }: QueryParts): Promise<void> {
  const refused = types.find((type) => !allowedTypes.has(type));
  if (refused === undefined) return;
  const [row] = await sql<{ name: string; is_row: boolean }[]>`
    select typname as name, typtype in ('c', 'p') as is_row from pg_type where oid = ${refused}`;
  const what = row?.is_row === true ? 'whole rows' : `the type ${row?.name ?? refused}`;
  throw new RefusedQuery('use', `it uses ${what}, which a view cannot`);
}

function idsOf(ids: readonly number[]): string {
  return formatArray([...new Set(ids)].map(String));
}
