// Filters of callers: compiled, cached, and refused with errors of the API.
import { DerivedCache } from '../../storage/connections/derived-cache.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { type Condition, isOwnStep, stepsIn } from '../../storage/app/filter/condition.ts';
import { FilterError, type FilterErrorCode } from '../../storage/app/filter/parse/error.ts';
import { type ApiError, fieldsError, unknownColumn } from '../errors.ts';
import { LruCache } from '../process/lru-cache.ts';
import { comparisonsToRead, compileFilter } from './compile.ts';

/** Cached filters for each version of a collection. */
const maxCached = 64;
const maxCachedLength = 1_024;

/** Characters of all cached filters. A compiled filter takes some 50 times as much memory. */
const maxCharacters = 1_048_576;

const compiledFilters = new DerivedCache<CollectionDefinition, LruCache<Condition>>(maxCharacters);

/** Compiles a filter. Throws `400 parse_error` or `unknown_column`, with the position in the text. */
export function compileCallerFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
): Condition {
  const known = compiledFilters.of(collection, () => new LruCache(maxCached));
  const found = known.get(filter);
  if (found !== undefined) return found;
  const condition = withFilterErrors(() => compileFilter(app, collection, filter, { isOfCaller: true }));
  if (filter.length <= maxCachedLength) {
    known.set(filter, condition);
    compiledFilters.grow(filter.length);
  }
  return condition;
}

/**
 * The most comparisons of `get` rules in a statement, for a filter or for the relations of a write. The plan of PostgreSQL
 * takes half a megabyte for each.
 */
export const maxGuardComparisons = 1_024;

/** Throws `400` for a filter that needs too many comparisons of `get` rules. Filters of admins need none. */
export function refuseCostly(app: AppDefinition, condition: Condition): void {
  let comparisons = 0;
  // Stops at the limit, so that no further rules are compiled.
  const isCostly = stepsIn(condition).some((step) => {
    if (isOwnStep(step)) return false;
    comparisons += comparisonsToRead(app, step.target);
    return comparisons > maxGuardComparisons;
  });
  if (!isCostly) return;
  throw filterError(
    'parse_error',
    `the get rules of the records that it looks at make it more than ${maxGuardComparisons} comparisons`,
  );
}

/** Runs work on a filter. Turns a `FilterError` into `400 parse_error` or `unknown_column`. */
export function withFilterErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof FilterError ? filterError(error.code, error.message) : error;
  }
}

function filterError(code: FilterErrorCode, reason: string): ApiError {
  return code === 'unknown_column'
    ? unknownColumn('filter', reason)
    : fieldsError(code, [{ field: 'filter', reason }]);
}
