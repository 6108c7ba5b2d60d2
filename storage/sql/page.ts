// The pages of lists.
import type { Fragment, Sql } from '../connections/pool.ts';

/** The page that a caller requests. `count: false` skips the total. */
export interface PageRequest {
  page: number;
  per_page: number;
  count: boolean;
}

/** A page of a list; the totals are -1 when they were not counted. */
export interface Page<Item> {
  items: Item[];
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
}

/** The number of rows before the page. */
export function pageOffset(request: PageRequest): number {
  return (request.page - 1) * request.per_page;
}

/** The page of a list that is complete in memory. */
export function slicePage<Item>(all: readonly Item[], request: PageRequest): Page<Item> {
  const offset = pageOffset(request);
  return makePage(all.slice(offset, offset + request.per_page), all.length, request);
}

/** The page of the rows that `from`, tables and conditions, names. They are counted if the caller wants it. */
export async function selectPage<Row extends object>(
  sql: Sql,
  request: PageRequest,
  { columns, from, order }: { columns: Fragment; from: Fragment; order: Fragment },
): Promise<Page<Row>> {
  const items = await sql<Row[]>`
    select ${columns} from ${from} order by ${order} limit ${request.per_page} offset ${pageOffset(request)}`;
  if (!request.count) return makePage([...items], 0, request);
  const [total] = await sql<{ count: number }[]>`select count(*)::int as count from ${from}`;
  return makePage([...items], total?.count ?? 0, request);
}

/** Makes a page of rows and their total, which is ignored when the caller wants none. */
export function makePage<Item>(items: Item[], total: number, request: PageRequest): Page<Item> {
  const { page, per_page, count } = request;
  const total_items = count ? total : -1;
  return { items, page, per_page, total_items, total_pages: count ? Math.ceil(total / per_page) : -1 };
}
