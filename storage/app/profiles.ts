// The callers' own records in `auth` collections, for rules that read them.
import type { Sql } from '../connections/pool.ts';
import type { CollectionDefinition } from '../definition.ts';
import { isUuid } from '../sql/ids.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { selectRows } from '../sql/rows.ts';
import { instantFromDatabase } from './fields/datetime.ts';
import type { FilterRecord } from './filter/column-value.ts';
import { qualified } from './tables.ts';
import { recordAlias, type Restriction, whereSql } from './records/restriction.ts';
import { RecordRows } from './records/rows.ts';

/** An `auth` collection, and the schema of its app. */
export interface ProfileTable {
  schema: string;
  collection: CollectionDefinition;
}

/** The records with these ids, by id as it was given, with the named fields and what they show of their users. */
export async function selectProfiles(
  sql: Sql,
  { schema, collection }: ProfileTable,
  names: ReadonlySet<string>,
  ids: readonly string[],
): Promise<Map<string, FilterRecord>> {
  const given = ids.filter(isUuid);
  if (given.length === 0) return new Map();
  const fields = collection.fields.filter(({ name }) => names.has(name));
  const rows = new RecordRows({ ...collection, fields }, recordAlias);
  const text = `select ${rows.columns} from ${
    recordsOf(schema, collection)
  } where "id" = any($1::text[]::uuid[])`;
  const found = new Map((await selectRows(sql, { text }, [given])).map((row) => [
    String(row[0]),
    {
      id: String(row[0]),
      fields: rows.readFields(row),
      created_at: instantFromDatabase(row[1]),
      updated_at: instantFromDatabase(row[2]),
    },
  ]));
  return new Map(given.flatMap((id) => {
    const record = found.get(id.toLowerCase());
    return record === undefined ? [] : [[id, record]];
  }));
}

/** True when the record with this id passes a restriction. */
export async function profilePasses(
  sql: Sql,
  { schema, collection }: ProfileTable,
  id: string,
  rule: Restriction,
): Promise<boolean> {
  const { text, params } = whereSql([rule], 2);
  const from = `from ${recordsOf(schema, collection)} where "id" = $1::uuid`;
  const rows = await selectRows(sql, { text: `select ${from}${text === '' ? '' : ` and ${text}`}` }, [
    id,
    ...params,
  ]);
  return rows.length > 0;
}

function recordsOf(schema: string, { id }: CollectionDefinition): string {
  return `${qualified({ schema, collection: id })} as ${quoteIdentifier(recordAlias)}`;
}
