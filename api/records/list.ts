// Listing records.
import { RowsTooLarge } from '../../storage/app/records/row-budget.ts';
import { makePage, type Page, pageOffset, type PageRequest } from '../../storage/sql/page.ts';
import type { ListPosition } from '../../storage/app/records/list-order.ts';
import type { RecordSelection } from '../../storage/app/search/searched-selection.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import { fold } from '../../storage/app/filter/fold.ts';
import type { Restriction } from '../../storage/app/records/restriction.ts';
import type { Deps } from '../deps.ts';
import { failValidation } from '../errors.ts';
import type { Access } from '../rules/access.ts';
import { relatedGuard, requireReachable } from '../rules/related.ts';
import { compileCallerFilter, refuseCostly } from '../rules/caller-filter.ts';
import { compiledRule } from '../rules/compile.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { expandRelations } from './relations/expand.ts';
import { readExpand } from './relations/expand-paths.ts';
import { ruleRestriction } from './relations/restrict.ts';
import type { PageMemory } from './page-memory.ts';
import type { Narrowing } from './ports.ts';
import { readPage } from './read.ts';
import { type CursorList, readCursor, writeCursor } from './input/list-cursor.ts';
import { readSearch } from './search/parameter.ts';
import { readFound } from './search/found.ts';
import { readFields, readSort, type SelectedRecord } from './input/selection.ts';

/** A list of records, as the query asks for it. */
export interface RecordQuery {
  access: Access;
  page: PageRequest;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
  sort?: string | undefined;
  fields?: string | undefined;
  filter?: string | undefined;
  /** Words that the records must have. */
  search?: string | undefined;
  expand?: string | undefined;
  /** Of the values of all records of a page together, roughly; 64 MiB when left out. */
  maxBytes?: number | undefined;
  memory?: PageMemory | undefined;
}

/** The budget of a response. */
export const defaultMaxBytes = 64 * 1_048_576;

/** A page of a list; `next_cursor` is null at its end. */
export type RecordPage = Page<SelectedRecord> & { next_cursor: string | null };

/**
 * Returns a page of the records that pass both rule and filter. Throws `401` or `403` when the rule refuses the caller
 * whatever the records are, `400 validation` when the page would be too large, `400 parse_error` for the filter,
 * `400 unknown_column` for a name that does not exist.
 */
export async function listRecords(
  deps: RecordDeps & Pick<Deps, 'secrets'>,
  target: RecordTarget,
  query: RecordQuery,
): Promise<RecordPage> {
  const { access, page, filter, memory, maxBytes = defaultMaxBytes } = query;
  return await onCollection(deps, target, async (scope) => {
    const { selection, narrowing } = selectedBy(access, scope.target, filter);
    const search = readSearch(scope.plan, query.search);
    const sort = readSort(scope.plan, query.sort, search !== undefined);
    const select = readFields(scope.plan, query.fields);
    const branches = readExpand(scope.target, query.expand);
    const list = { scope, sort, filter, search };
    const place = startOf(deps, list, query);
    const slice = { sort, limit: page.per_page, ...place, maxBytes, memory };
    const counted = page.count;
    const weight = scope.plan.weights.list;
    const read = async () => {
      const found = search === undefined
        ? undefined
        : await readFound(scope, { selection, words: search, similar: place.similar, slice, counted })
          .catch(explain);
      const { records, hasMore, total } = found ??
        await readPage(deps, scope, { selection, narrowing, slice, counted }).catch(explain);
      memory?.noteRows(weight);
      const show = branches.size === 0
        ? select
        : await expandRelations(select, scope, { access, branches, records, links: deps.fileLinks, memory });
      const record = hasMore ? records.at(-1) : undefined;
      return {
        ...makePage(records.map(show), total, { ...page, page: place.page }),
        next_cursor: record === undefined
          ? null
          : writeCursor(deps.secrets, list, { record, page: place.page, found }),
      };
    };
    return await (memory === undefined ? read() : memory.read(weight, page.per_page, read));
  });
}

/** The place at which a page starts, and the number of the page. */
interface PageStart {
  page: number;
  offset: number;
  after: ListPosition | undefined;
  similar: boolean | undefined;
}

function startOf(
  { secrets }: Pick<Deps, 'secrets'>,
  list: CursorList,
  { page, cursor }: Pick<RecordQuery, 'page' | 'cursor'>,
): PageStart {
  if (cursor === undefined) {
    return { page: page.page, offset: pageOffset(page), after: undefined, similar: undefined };
  }
  if (page.page !== 1) failValidation([{ field: 'page', reason: 'must be left out beside a cursor' }]);
  const { position, page: before, similar } = readCursor(secrets, list, cursor);
  return { page: before + 1, offset: 0, after: position, similar };
}

function explain(error: unknown): never {
  if (!(error instanceof RowsTooLarge)) throw error;
  failValidation([{
    field: 'per_page',
    reason: 'these records are too large for one page; ask for fewer at once',
  }]);
}

/** The records of a list, as the database is asked for them, and as the cache of totals knows them. */
interface Selected {
  selection: RecordSelection;
  narrowing: Narrowing;
}

const everything: Condition = { kind: 'constant', truth: true };

/**
 * The records that pass both rule and filter. The rule follows any relation; the caller's own filter follows only those to
 * records that the caller may read. Throws as `listRecords` does.
 */
export function selectedBy(access: Access, target: RecordTarget, filter: string | undefined): Selected {
  const rule = ruleRestriction(access, target);
  const restrictions = rule === undefined ? [] : [rule];
  const { condition: ruled } = compiledRule(target.app, target.collection, access.action);
  const narrowing = { rule: access.unbounded ? everything : ruled, guarded: !access.unbounded };
  if (filter === undefined || filter === '') {
    return { selection: { restrictions, isAdHoc: false }, narrowing: { ...narrowing, filter: undefined } };
  }
  const condition = compileCallerFilter(target.app, target.collection, filter);
  requireReachable(access, target.app, condition);
  const residue = fold(condition, { ...access.request, body: {} });
  const guard = relatedGuard(access, target.app);
  if (guard !== undefined) refuseCostly(target.app, condition);
  const filtered: Restriction = guard === undefined ? { residue } : { residue, guard };
  return {
    selection: { restrictions: [...restrictions, filtered], isAdHoc: true },
    narrowing: { ...narrowing, filter: condition },
  };
}
