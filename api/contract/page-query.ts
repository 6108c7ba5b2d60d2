// The query parameters of every list.
import type { PageRequest } from '../../storage/sql/page.ts';
import { boolean, described, integer, optional } from './schema.ts';

/** Members of the query schema of a list. */
export const pageQueryMembers = {
  page: described(optional(integer({ min: 1 })), 'From 1; default 1.'),
  per_page: described(optional(integer({ min: 1 })), 'Default 30; a value above 200 counts as 200.'),
  skip_total: described(optional(boolean()), 'Leaves the totals out: they are then -1.'),
};

const defaultPerPage = 30;
const maxPerPage = 200;

/** The page that a query requests. */
export function toPageRequest(
  { page = 1, per_page = defaultPerPage, skip_total = false }: {
    page?: number | undefined;
    per_page?: number | undefined;
    skip_total?: boolean | undefined;
  },
): PageRequest {
  return { page, per_page: Math.min(per_page, maxPerPage), count: !skip_total };
}
