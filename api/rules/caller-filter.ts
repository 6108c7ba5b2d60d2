// Filters that callers write: understood once, and refused in the words of the API.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/filter/condition.ts';
import { FilterError } from '../../storage/filter/error.ts';
import { ApiError } from '../errors.ts';
import { understand } from './compile.ts';

/** Filters remembered for each version of a collection: programs send the same few again and again. */
const remembered = 64;
const longestRemembered = 1_024;

const understoodFilters = new WeakMap<CollectionDefinition, Map<string, Condition>>();

/** The meaning of a filter. Throws `400 parse_error` or `unknown_column`, with the position in the text. */
export function conditionOfFilter(
  app: AppDefinition,
  collection: CollectionDefinition,
  filter: string,
): Condition {
  let known = understoodFilters.get(collection);
  if (known === undefined) {
    known = new Map();
    understoodFilters.set(collection, known);
  }
  const found = known.get(filter);
  if (found !== undefined) return found;
  const condition = explained(() => understand(app, collection, filter));
  if (filter.length <= longestRemembered) {
    const oldest = known.size < remembered ? undefined : known.keys().next().value;
    if (oldest !== undefined) known.delete(oldest);
    known.set(filter, condition);
  }
  return condition;
}

/** Runs what may find a filter wrong, and tells whoever wrote it: `400 parse_error` or `unknown_column`. */
export function explained<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof FilterError ? new ApiError(error.code, `filter: ${error.message}`) : error;
  }
}
