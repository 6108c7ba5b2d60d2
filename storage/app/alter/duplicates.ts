// The records of a collection that keep a field or an index from becoming unique.
import type { Sql } from '../../connections/pool.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { qualified, type TableName } from '../tables.ts';

/** The number of records that have the same values as another one in all of these fields. An empty field equals no other. */
export async function countDuplicates(
  sql: Sql,
  table: TableName,
  fields: readonly string[],
): Promise<number> {
  const columns = fields.map(quoteIdentifier);
  const [row] = await sql.unsafe<{ duplicates: number }[]>(
    `select coalesce(sum(records), 0)::float8 as duplicates from (
       select count(*) as records from ${qualified(table)}
       where ${columns.map((column) => `${column} is not null`).join(' and ')}
       group by ${columns.join(', ')} having count(*) > 1)`,
  );
  return row?.duplicates ?? 0;
}
