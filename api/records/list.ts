// Listing records.
import { offsetOf, type Page, pageOf, type PageRequest } from '../../storage/page.ts';
import {
  countOf,
  countRecords,
  listRecords as listRows,
  type RecordSelection,
} from '../../storage/records.ts';
import { fold } from '../../storage/filter/fold.ts';
import type { Restriction } from '../../storage/restriction.ts';
import { type Access, guardOf } from '../rules/access.ts';
import { conditionOfFilter } from '../rules/caller-filter.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from './collection.ts';
import { branchesOf, expanding } from './expand.ts';
import { ruleOn } from './restrict.ts';
import { type RecordAnswer, selectionOf, sortKeysOf } from './selection.ts';

/** Which records, in which order, with which fields; all as in the query. */
export interface RecordQuery {
  access: Access;
  page: PageRequest;
  sort?: string | undefined;
  fields?: string | undefined;
  filter?: string | undefined;
  expand?: string | undefined;
}

/**
 * Answers a page of the records that pass both rule and filter. Throws `401` or `403` when the rule refuses the caller
 * whatever the records are, `400 parse_error` for the filter, `400 unknown_column` for a name that does not exist.
 */
export async function listRecords(
  deps: RecordDeps,
  target: RecordTarget,
  { access, page, sort, fields, filter, expand }: RecordQuery,
): Promise<Page<RecordAnswer>> {
  return await onCollection(deps, target, async (scope) => {
    const { plan, connection } = scope;
    const selected = selectedBy(access, scope.target, filter);
    const keys = sortKeysOf(plan, sort);
    const select = selectionOf(plan, fields);
    const branches = branchesOf(scope.target, expand);
    const offset = offsetOf(page);
    const rows = await connection.run((sql) =>
      listRows(sql, plan, selected, { sort: keys, limit: page.per_page, offset })
    );
    const total = page.count
      ? await totalOf(scope, selected, { found: rows.length, offset, limit: page.per_page })
      : 0;
    const show = branches.size === 0
      ? select
      : await expanding(select, scope, { access, branches, records: rows });
    return pageOf(rows.map(show), total, page);
  });
}

/** The rule looks wherever it says; the caller's own filter looks through relations only at what the caller may read. */
function selectedBy(access: Access, target: RecordTarget, filter: string | undefined): RecordSelection {
  const rule = ruleOn(access, target);
  const ruled = rule === undefined ? [] : [rule];
  if (filter === undefined || filter === '') return { restrictions: ruled, madeUp: false };
  const condition = conditionOfFilter(target.app, target.collection, filter);
  const residue = fold(condition, { ...access.request, body: {} });
  const guard = guardOf(access, target.app);
  const narrowed: Restriction = guard === undefined ? { residue } : { residue, guard };
  return { restrictions: [...ruled, narrowed], madeUp: true };
}

/** A page that is not full is the last one, and says itself how many there are. */
async function totalOf(
  { plan, connection }: RecordScope,
  selected: RecordSelection,
  { found, offset, limit }: { found: number; offset: number; limit: number },
): Promise<number> {
  const seen = offset + found;
  if (found < limit && (found > 0 || offset === 0)) return seen;
  const counted = await connection.run((sql) => countRecords(sql, countOf(plan, selected)));
  return found > 0 ? Math.max(counted, seen) : counted;
}
