// Files that no record holds any more.
import type { Sql } from '../connections/pool.ts';
import { filesId } from '../definition.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { lockFiles } from './files.ts';
import type { Referrer } from './records/referrers.ts';
import { qualified } from './tables.ts';

/**
 * Deletes those of some files that no field holds, in a transaction, and returns their ids. The files are locked first, so that
 * no record begins to hold one meanwhile.
 */
export async function deleteUnheld(
  sql: Sql,
  { schema, ids, holders }: { schema: string; ids: readonly string[]; holders: readonly Referrer[] },
): Promise<string[]> {
  await lockFiles(sql, schema, ids);
  const held = holders.map(({ collection, field, many }) => {
    const column = `r.${quoteIdentifier(field)}`;
    const holds = many === undefined ? `${column} = f.id` : `${column} @> array[f.id]`;
    return ` and not exists (select from ${
      qualified({ schema, collection: collection.id })
    } as r where ${holds})`;
  });
  const rows = await sql.unsafe<{ id: string }[]>(
    `delete from ${qualified({ schema, collection: filesId })} as f where f.id = any($1::uuid[])${
      held.join('')
    } ` +
      'returning f.id::text',
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}
