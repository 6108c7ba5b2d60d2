// Listing records.
import { offsetOf, type Page, pageOf, type PageRequest } from '../../storage/page.ts';
import { countRecords, listRecords as listRows } from '../../storage/records.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from './collection.ts';
import { type RecordAnswer, refuseUnbuilt, selectionOf, sortKeysOf } from './selection.ts';

/** Which records, in which order, with which fields; all as in the query. */
export interface RecordQuery {
  page: PageRequest;
  sort?: string | undefined;
  fields?: string | undefined;
  filter?: string | undefined;
  expand?: string | undefined;
}

/** Answers a page of records. Throws `400 unknown_column` for a name that does not exist. */
export async function listRecords(
  deps: RecordDeps,
  target: RecordTarget,
  { page, sort, fields, filter, expand }: RecordQuery,
): Promise<Page<RecordAnswer>> {
  refuseUnbuilt({ filter, expand });
  return await onCollection(deps, target, async (scope) => {
    const { plan, connection } = scope;
    const keys = sortKeysOf(plan, sort);
    const select = selectionOf(plan, fields);
    const offset = offsetOf(page);
    const rows = await connection.run((sql) =>
      listRows(sql, plan, { sort: keys, limit: page.per_page, offset })
    );
    const total = page.count ? await totalOf(scope, { found: rows.length, offset, limit: page.per_page }) : 0;
    return pageOf(rows.map(select), total, page);
  });
}

/** A page that is not full is the last one, and says itself how many there are. */
async function totalOf(
  { plan, connection }: RecordScope,
  { found, offset, limit }: { found: number; offset: number; limit: number },
): Promise<number> {
  const seen = offset + found;
  if (found < limit && (found > 0 || offset === 0)) return seen;
  const counted = await connection.run((sql) => countRecords(sql, plan));
  return found > 0 ? Math.max(counted, seen) : counted;
}
