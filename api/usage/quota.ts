// One quota: its name, what it allows at a place, and what somebody is told who would exceed it.
import { ApiError } from '../errors.ts';
import { type RangePolicy, unlimitedQuota } from '../policies/definitions.ts';
import type { Policies } from '../policies/effective.ts';
import type { TenantPath } from '../scope.ts';

/** Names of the quotas. */
export type Quota = Extract<RangePolicy, `quota.${string}`>;

interface Refusal {
  status: 403 | 413 | 429;
  /** What it allows, in words. */
  allows: (most: number) => string;
  mayRetry: boolean;
}

const refusals: Record<Quota, Refusal> = {
  'quota.storage_mb': { status: 413, allows: (most) => `${most} MB of tables and files`, mayRetry: false },
  'quota.records': { status: 403, allows: (most) => `${most} records in the app`, mayRetry: false },
  'quota.users': { status: 403, allows: (most) => `${most} users in the workspace`, mayRetry: false },
  'quota.requests_per_sec': {
    status: 429,
    allows: (most) => `${most} requests to the app in a second`,
    mayRetry: true,
  },
};

/** The bound of a quota; undefined where none is set. Throws `StorageError`. */
export async function quotaLimit(
  policies: Policies,
  name: Quota,
  at: TenantPath,
): Promise<number | undefined> {
  const { max } = await policies.range(name, at);
  return max >= unlimitedQuota ? undefined : max;
}

/** The error `quota_exceeded`, which names the quota. */
export function quotaExceeded(name: Quota, most: number): ApiError {
  const { status, allows, mayRetry } = refusals[name];
  const headers = mayRetry ? [['Retry-After', '1'] as const] : [];
  return new ApiError('quota_exceeded', `${name} allows ${allows(most)}`, headers, status);
}
