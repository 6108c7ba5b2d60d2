// The quotas: their names, their limits, and the errors of a caller that exceeds them.
import { exceededLimit } from '../../storage/errors.ts';
import { ApiError } from '../errors.ts';
import type { SpentShares } from '../logging/spent-shares.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { RangePolicy } from '../policies/definitions.ts';
import { unlimitedQuota } from '../policies/quota-definitions.ts';
import type { Policies } from '../policies/effective.ts';
import type { TenantPath } from '../scope.ts';

/** Names of the quotas. */
export type Quota = Extract<RangePolicy, `quota.${string}`>;

interface Refusal {
  status: 403 | 413 | 429;
  /** Describes the limit. */
  describe: (max: number) => string;
  mayRetry: boolean;
}

/** Quotas whose excess is refused; that of the rest is discarded, or has to wait. */
export type RefusingQuota = Exclude<
  Quota,
  `quota.mails_${string}` | 'quota.upload_mb_per_sec' | 'quota.log_mb'
>;

const refusals: Record<RefusingQuota, Refusal> = {
  'quota.storage_mb': { status: 413, describe: (max) => `${max} MB of tables and files`, mayRetry: false },
  'quota.records': { status: 403, describe: (max) => `${max} records in the app`, mayRetry: false },
  'quota.files': { status: 403, describe: (max) => `${max} files in the app`, mayRetry: false },
  'quota.collections': { status: 403, describe: (max) => `${max} collections in the app`, mayRetry: false },
  'quota.apps': { status: 403, describe: (max) => `${max} apps in the workspace`, mayRetry: false },
  'quota.users': { status: 403, describe: (max) => `${max} users in the workspace`, mayRetry: false },
  'quota.streams': {
    status: 429,
    describe: (max) => `${max} event streams of the workspace in an API process`,
    mayRetry: true,
  },
  'quota.requests_per_sec': {
    status: 429,
    describe: (max) => `${max} requests to the app in a second`,
    mayRetry: true,
  },
};

/** The limit of a quota; undefined where none is set. Throws `StorageError`. */
export async function quotaLimit(
  policies: Policies,
  name: Quota,
  at: TenantPath,
): Promise<number | undefined> {
  const { max } = await policies.range(name, at);
  return max >= unlimitedQuota ? undefined : max;
}

/** The error `quota_exceeded`. */
class QuotaExceeded extends ApiError {
  readonly quota: RefusingQuota;

  constructor(quota: RefusingQuota, message: string, headers: HeaderList, status: number) {
    super('quota_exceeded', message, headers, { status });
    this.quota = quota;
  }
}

/** Logs the quota, or the share of the database, that an error says is used up; nothing of another error. */
export function noteExceeded(
  { spentShares }: { spentShares: SpentShares },
  error: unknown,
  workspace: string | undefined,
): void {
  const share = error instanceof QuotaExceeded ? error.quota : exceededLimit(error);
  if (share !== undefined) spentShares.note({ share, workspace });
}

/** Creates the error `quota_exceeded`, which names the quota and its limit, and the place where it holds unless that is clear. */
export function quotaExceeded(name: RefusingQuota, max: number, place = ''): QuotaExceeded {
  const { status, describe, mayRetry } = refusals[name];
  const headers = mayRetry ? [['Retry-After', '1'] as const] : [];
  return new QuotaExceeded(name, `${name} allows ${describe(max)}${place}`, headers, status);
}
