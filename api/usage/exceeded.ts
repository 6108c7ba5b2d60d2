// What somebody is told who would exceed a quota.
import { ApiError } from '../errors.ts';
import type { Quota } from './most.ts';

interface Refusal {
  status: 403 | 413 | 429;
  /** What it allows, in words. */
  allows: (most: number) => string;
  retry: boolean;
}

const refusals: Record<Quota, Refusal> = {
  'quota.storage_mb': { status: 413, allows: (most) => `${most} MB of tables and files`, retry: false },
  'quota.records': { status: 403, allows: (most) => `${most} records in the app`, retry: false },
  'quota.users': { status: 403, allows: (most) => `${most} users in the workspace`, retry: false },
  'quota.requests_per_sec': {
    status: 429,
    allows: (most) => `${most} requests to the app in a second`,
    retry: true,
  },
};

/** The error `quota_exceeded`, which names the quota. */
export function quotaExceeded(name: Quota, most: number): ApiError {
  const { status, allows, retry } = refusals[name];
  const headers = retry ? [['Retry-After', '1'] as const] : [];
  return new ApiError('quota_exceeded', `${name} allows ${allows(most)}`, headers, status);
}
