// Filters that callers write: understood once, and refused in the words of the API.
import { DerivedCache } from '../../storage/connections/derived-cache.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { ApiError, fail } from '../errors.ts';
import { LruCache } from '../process/lru-cache.ts';
import { comparisonsToLookAt, hopsIn, understand } from './compile.ts';

/** Filters remembered for each version of a collection: programs send the same few again and again. */
const remembered = 64;
const longestRemembered = 1_024;

/** Characters of the filters of all collections together; what is made of one takes some 50 times as much. */
const mostCharacters = 1_048_576;

const understoodFilters = new DerivedCache<CollectionDefinition, LruCache<Condition>>(mostCharacters);

/** The meaning of a filter. Throws `400 parse_error` or `unknown_column`, with the position in the text. */
export function conditionOfFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
): Condition {
  const known = understoodFilters.of(collection, () => new LruCache(remembered));
  const found = known.get(filter);
  if (found !== undefined) return found;
  const condition = explained(() => understand(app, collection, filter));
  if (filter.length <= longestRemembered) {
    known.set(filter, condition);
    understoodFilters.grow(filter.length);
  }
  return condition;
}

/**
 * Comparisons of `get` rules that a filter may cause, or the relations of one write: all of them are in one statement, whose
 * plan takes PostgreSQL half a megabyte for each.
 */
export const mostGuarding = 1_024;

/** Ends the request with `400` for a filter that has the rules of related records asked too often. Admins' ask none. */
export function refuseCostly(app: AppDefinition, condition: Condition): void {
  let comparisons = 0;
  // No more of them are compiled than it takes to know.
  const isCostly = hopsIn(condition).some(({ target }) => {
    comparisons += comparisonsToLookAt(app, target);
    return comparisons > mostGuarding;
  });
  if (!isCostly) return;
  fail(
    'parse_error',
    `filter: the get rules of the records that it looks at make it more than ${mostGuarding} comparisons`,
  );
}

/** Runs what may find a filter wrong, and tells whoever wrote it: `400 parse_error` or `unknown_column`. */
export function explained<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof FilterError ? new ApiError(error.code, `filter: ${error.message}`) : error;
  }
}
