// The shares of workspaces that requests spend, of one process.
import type { Deps } from '../deps.ts';
import { DatabaseSettings } from '../policies/database-limits.ts';
import { DiskReserve } from './disk-reserve.ts';
import { MailBudgets } from './mail-budgets.ts';
import { pageBudget } from './page-budget.ts';
import { Quotas } from './quotas.ts';
import type { Sharing } from './remainder.ts';
import { UploadPace } from './upload-pace.ts';

type ShareDeps = Pick<
  Deps,
  'config' | 'databases' | 'policies' | 'policyCache' | 'spentShares' | 'now' | 'observe'
>;

/** Makes them, when the free disk is measured. */
export async function createShares(
  deps: ShareDeps,
  sharing: Sharing,
): Promise<Pick<Deps, 'databaseSettings' | 'disk' | 'quotas' | 'mailBudgets' | 'pageBytes' | 'uploadPace'>> {
  const now = () => deps.now().getTime();
  const disk = new DiskReserve(deps);
  await disk.check();
  return {
    databaseSettings: new DatabaseSettings(deps),
    disk,
    quotas: new Quotas({ ...deps, disk, sharing, now }),
    mailBudgets: new MailBudgets(deps),
    pageBytes: pageBudget(deps),
    uploadPace: new UploadPace({ ...deps, workers: sharing.workers, now }),
  };
}
