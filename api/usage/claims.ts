// Claims on several quotas: all of them, or none.
import { quotaExceeded, type RefusingQuota } from './quota.ts';
import type { Claim, Remainder } from './remainder.ts';

/** An amount to claim: `max`, or what is left when that is at least `min`. */
export interface Amount {
  min: number;
  max: number;
}

/** What is to be claimed of one quota. */
export interface IntendedClaim {
  quota: RefusingQuota;
  /** The limit; undefined: none, and nothing is claimed. */
  limit: number | undefined;
  /** The number of what is counted in one of the limit: the bytes of a MB. */
  unit: number;
  remainder: Remainder;
  amount: Amount;
  /** Where the limit holds, for its error. */
  place?: string;
}

/** A claim, and the error of a write that would need more. */
export interface QuotaClaim extends Claim {
  exceeded(): Error;
}

/** An amount of which no part is of use. */
export function exactly(amount: number): Amount {
  return { min: amount, max: amount };
}

/** Claims each in turn. Throws `quota_exceeded` for the first that is used up, and then has claimed nothing. */
export async function claimAll(intended: readonly IntendedClaim[]): Promise<QuotaClaim[]> {
  const claims: QuotaClaim[] = [];
  try {
    for (const { quota, limit, unit, remainder, amount, place } of intended) {
      if (limit === undefined || amount.max === 0) continue;
      const claim = await remainder.take(limit * unit, amount);
      const exceeded = () => quotaExceeded(quota, limit, place);
      if (claim === undefined) throw exceeded();
      claims.push({ ...claim, exceeded });
    }
    return claims;
  } catch (error) {
    settleAll(claims, 0);
    throw error;
  }
}

/** Settles claims of which each was used as much. */
export function settleAll(claims: readonly Claim[], used: number): void {
  for (const claim of claims) claim.settle(used);
}
