// How much a quota allows at a place.
import { unlimited } from '../policies/definitions.ts';
import type { Policies } from '../policies/effective.ts';
import type { RangePolicy } from '../policies/definitions.ts';
import type { Place } from '../scope.ts';

/** Names of the quotas. */
export type Quota = Extract<RangePolicy, `quota.${string}`>;

/** The bound of a quota; undefined where none is set. Throws `StorageError`. */
export async function mostOf(policies: Policies, name: Quota, at: Place): Promise<number | undefined> {
  const { max } = await policies.range(name, at);
  return max >= unlimited ? undefined : max;
}
