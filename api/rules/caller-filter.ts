// Filters that callers write: understood once, and refused in the words of the API.
import { DerivedCache } from '../../storage/connections/derived-cache.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { ApiError, fail } from '../errors.ts';
import { LruCache } from '../process/lru-cache.ts';
import { comparisonsToRead, compileFilter, hopsIn } from './compile.ts';

/** Filters remembered for each version of a collection: programs send the same few again and again. */
const maxCached = 64;
const maxCachedLength = 1_024;

/** Characters of the filters of all collections together; what is made of one takes some 50 times as much. */
const maxCharacters = 1_048_576;

const compiledFilters = new DerivedCache<CollectionDefinition, LruCache<Condition>>(maxCharacters);

/** The meaning of a filter. Throws `400 parse_error` or `unknown_column`, with the position in the text. */
export function compileCallerFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
): Condition {
  const known = compiledFilters.of(collection, () => new LruCache(maxCached));
  const found = known.get(filter);
  if (found !== undefined) return found;
  const condition = withFilterErrors(() => compileFilter(app, collection, filter));
  if (filter.length <= maxCachedLength) {
    known.set(filter, condition);
    compiledFilters.grow(filter.length);
  }
  return condition;
}

/**
 * Comparisons of `get` rules that a filter may cause, or the relations of one write: all of them are in one statement, whose
 * plan takes PostgreSQL half a megabyte for each.
 */
export const maxGuardComparisons = 1_024;

/** Ends the request with `400` for a filter that has the rules of related records asked too often. Admins' ask none. */
export function refuseCostly(app: AppDefinition, condition: Condition): void {
  let comparisons = 0;
  // No more of them are compiled than it takes to know.
  const isCostly = hopsIn(condition).some(({ target }) => {
    comparisons += comparisonsToRead(app, target);
    return comparisons > maxGuardComparisons;
  });
  if (!isCostly) return;
  fail(
    'parse_error',
    `filter: the get rules of the records that it looks at make it more than ${maxGuardComparisons} comparisons`,
  );
}

/** Runs what may find a filter wrong, and tells whoever wrote it: `400 parse_error` or `unknown_column`. */
export function withFilterErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof FilterError ? new ApiError(error.code, `filter: ${error.message}`) : error;
  }
}
