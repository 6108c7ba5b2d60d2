// Listing records.
import { TooMuchAtOnce } from '../../storage/app/records/bounded-rows.ts';
import { offsetOf, type Page, pageOf, type PageRequest } from '../../storage/sql/page.ts';
import {
  countOf,
  countRecords,
  listRecords as listRows,
  type RecordSelection,
} from '../../storage/app/records/records.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import { fold } from '../../storage/app/filter/fold.ts';
import type { Restriction } from '../../storage/app/records/restriction.ts';
import { fail } from '../errors.ts';
import { type Access, guardOf } from '../rules/access.ts';
import { conditionOfFilter, refuseCostly } from '../rules/caller-filter.ts';
import { ruleOf } from '../rules/compile.ts';
import { basisOf } from './cache/write-set.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { branchesOf, expanding } from './relations/expand.ts';
import { ruleOn } from './relations/restrict.ts';
import type { Basis } from './cache/totals.ts';
import { type RecordAnswer, selectionOf, sortKeysOf } from './input/selection.ts';

/** Which records, in which order, with which fields; all as in the query. */
export interface RecordQuery {
  access: Access;
  page: PageRequest;
  sort?: string | undefined;
  fields?: string | undefined;
  filter?: string | undefined;
  expand?: string | undefined;
  /** The values of all records of a page together, in bytes, roughly; 64 MiB when left out. */
  mostBytes?: number | undefined;
}

const mostBytesOfPage = 64 * 1_048_576;

/**
 * Answers a page of the records that pass both rule and filter. Throws `401` or `403` when the rule refuses the caller
 * whatever the records are, `400 validation` when the page would be too large, `400 parse_error` for the filter,
 * `400 unknown_column` for a name that does not exist.
 */
export async function listRecords(
  deps: RecordDeps,
  target: RecordTarget,
  { access, page, sort, fields, filter, expand, mostBytes = mostBytesOfPage }: RecordQuery,
): Promise<Page<RecordAnswer>> {
  return await onCollection(deps, target, async (scope) => {
    const { plan, connection } = scope;
    const { selected, basis } = selectedBy(access, scope.target, filter);
    const keys = sortKeysOf(plan, sort);
    const select = selectionOf(plan, fields);
    const branches = branchesOf(scope.target, expand);
    const offset = offsetOf(page);
    const isStamped = page.count && deps.totals.needsSnapshot(basis);
    const slice = { sort: keys, isStamped, limit: page.per_page, offset, mostBytes };
    const { records, snapshot } = await connection.run((sql) => listRows(sql, plan, selected, slice)).catch(
      explain,
    );
    const total = page.count
      ? await totalOf({ found: records.length, offset, limit: page.per_page }, () => {
        const count = countOf(plan, selected);
        const ask = () => connection.run((sql) => countRecords(sql, count));
        return deps.totals.of({ count, basis, snapshot }, ask);
      })
      : 0;
    const show = branches.size === 0 ? select : await expanding(select, scope, { access, branches, records });
    return pageOf(records.map(show), total, page);
  });
}

function explain(error: unknown): never {
  if (!(error instanceof TooMuchAtOnce)) throw error;
  fail('validation', 'per_page: these records are too large for one page; ask for fewer at once');
}

/** Which records, and what their number depends on. */
interface Selected {
  selected: RecordSelection;
  basis: Basis | undefined;
}

const everything: Condition = { kind: 'constant', truth: true };

/** The rule looks wherever it says; the caller's own filter looks through relations only at what the caller may read. */
function selectedBy(access: Access, target: RecordTarget, filter: string | undefined): Selected {
  const rule = ruleOn(access, target);
  const ruled = rule === undefined ? [] : [rule];
  const { condition: asked } = ruleOf(target.app, target.collection, access.action);
  const narrowing = { rule: access.unbounded ? everything : asked, guarded: !access.unbounded };
  if (filter === undefined || filter === '') {
    const basis = basisOf(target, { ...narrowing, filter: undefined });
    return { selected: { restrictions: ruled, isMadeUp: false }, basis };
  }
  const condition = conditionOfFilter(target.app, target.collection, filter);
  const residue = fold(condition, { ...access.request, body: {} });
  const guard = guardOf(access, target.app);
  if (guard !== undefined) refuseCostly(target.app, condition);
  const narrowed: Restriction = guard === undefined ? { residue } : { residue, guard };
  const basis = basisOf(target, { ...narrowing, filter: condition });
  return { selected: { restrictions: [...ruled, narrowed], isMadeUp: true }, basis };
}

/** A page that is not full is the last one, and says itself how many there are. */
async function totalOf(
  { found, offset, limit }: { found: number; offset: number; limit: number },
  count: () => Promise<number>,
): Promise<number> {
  const seen = offset + found;
  if (found < limit && (found > 0 || offset === 0)) return seen;
  const counted = await count();
  return found > 0 ? Math.max(counted, seen) : counted;
}
