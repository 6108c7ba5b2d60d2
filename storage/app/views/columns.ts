// The columns of a view: which fields they become, and how the view shows them in the types that fields of these kinds have.
import type { CollectionDefinition, Field, FieldKind } from '../../definition.ts';
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { formatArray } from '../../sql/text-array.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { qualified, type TableName } from '../tables.ts';
import { asQuery, RefusedQuery } from './refused-query.ts';

/** A column of a query, as PostgreSQL describes it. */
export interface QueryColumn {
  name: string;
  /** The id of its type. */
  type: number;
  /** The column of a collection that it shows unchanged, if it does. */
  origin: { collection: string; column: string } | undefined;
}

const uuid = 2950;
const instants: ReadonlySet<number> = new Set([1082, 1114, 1184]);

/** Kinds by type, where a column shows no field. */
const kindsByType: ReadonlyMap<number, FieldKind> = new Map([
  ...[16].map((type) => [type, 'bool'] as const),
  ...[20, 21, 23, 700, 701, 1700].map((type) => [type, 'number'] as const),
  ...[18, 19, 25, 705, 1042, 1043, uuid, 1083, 1186, 1266].map((type) => [type, 'text'] as const),
  ...[114, 3802].map((type) => [type, 'json'] as const),
  ...[...instants].map((type) => [type, 'datetime'] as const),
]);

/** Members that every record has. */
const ownColumns: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

/** Describes the columns of a query, without running it. Throws `RefusedQuery`. */
export async function describeColumns(
  sql: Sql,
  schema: string,
  query: string,
): Promise<readonly QueryColumn[]> {
  const { columns } = await asQuery(() => sql.unsafe(query, [], { prepare: true }).describe());
  const rows = await sql<{ relation: number; number: number; collection: string; column: string }[]>`
    select c.oid::int8::float8 as relation, a.attnum as number, c.relname as collection, a.attname as column
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname = ${schema} and a.attnum > 0 and not a.attisdropped and c.oid = any(${
    formatArray([...new Set(columns.map(({ table }) => String(table)))])
  }::text::oid[])`;
  const origins = new Map(rows.map(({ relation, number, ...origin }) => [`${relation} ${number}`, origin]));
  return columns.map(({ name, type, table, number }) => ({
    name,
    type,
    origin: origins.get(`${table} ${number}`),
  }));
}

/** The field that a column becomes. Throws `RefusedQuery` for a type that no field has. */
export function fieldOf(
  { name, type, origin }: QueryColumn,
  collections: ReadonlyMap<string, CollectionDefinition>,
): Field {
  const shown = origin === undefined ? undefined : collections.get(origin.collection);
  const field = shown?.fields.find((field) => field.name === origin?.column);
  if (field !== undefined) {
    const { kind, options, target, many } = field;
    return {
      name,
      kind,
      ...options && { options },
      ...target !== undefined && { target },
      ...many && { many },
    };
  }
  if (shown !== undefined && shown.kind !== 'view' && origin?.column === 'id') {
    return { name, kind: 'relation', target: shown.id };
  }
  const kind = kindsByType.get(type);
  if (kind !== undefined) return { name, kind };
  throw new RefusedQuery(
    'shape',
    `the column "${name}" has a type that no field has; cast it, as in ${name}::text`,
  );
}

/** Throws `RefusedQuery` unless a query has the columns that records need. */
export function checkOwnColumns(columns: readonly QueryColumn[]): void {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  if (types.get('id') !== uuid) {
    throw new RefusedQuery(
      'shape',
      'it needs a column "id" of type uuid that no two rows share, such as a record’s id, or md5(status)::uuid as id',
    );
  }
  for (const name of ['created_at', 'updated_at']) {
    const type = types.get(name);
    if (type !== undefined && !instants.has(type)) {
      throw new RefusedQuery('shape', `the column "${name}" must be a time`);
    }
  }
}

/** The columns that become fields. */
export function fieldColumns(columns: readonly QueryColumn[]): readonly QueryColumn[] {
  return columns.filter(({ name }) => !ownColumns.has(name));
}

/** The select of a view over the rows of its query, as a table of these fields would have them. */
export function selectRowsOf(
  query: TableName,
  columns: readonly QueryColumn[],
  fields: readonly Field[],
): string {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const shown = [
    ...fields.map((field) => `${valueOf(field, byName.get(field.name))} as ${quoteIdentifier(field.name)}`),
    ...['created_at', 'updated_at'].map((name) => {
      const column = byName.get(name);
      const instant = column === undefined
        ? epoch
        : `coalesce(${valueOf({ name, kind: 'datetime' }, column)}, ${epoch})`;
      return `${instant}::${kindOf({ kind: 'datetime' }).column} as ${quoteIdentifier(name)}`;
    }),
  ];
  return `select ${['q."id"', ...shown].join(', ')} from ${qualified(query)} as q where q."id" is not null`;
}

/** The time of rows that have none. */
const epoch = `'1970-01-01T00:00:00Z'::timestamptz`;

/** The value of a column as its field has it. What no field can hold, but an expression may be, is null. */
function valueOf(field: Field, column: QueryColumn | undefined): string {
  const { column: type, comparable } = kindOf(field);
  const value = `q.${quoteIdentifier(field.name)}::${type}`;
  if (field.many === true) return `coalesce(${value}, '${noItems}')`;
  // As it is, so that filters find the index of the field that it shows.
  if (column?.origin !== undefined) return value;
  if (comparable === 'number') return `nullif(nullif(nullif(${value}, 'NaN'), 'Infinity'), '-Infinity')`;
  return comparable === 'datetime'
    ? `case when ${value} between '0001-01-01T00:00:00Z' and '9999-12-31T23:59:59.999Z' then ${value} end`
    : value;
}
