// The quota of end-users, checked in the transaction that adds one, so that it holds exactly.
import type { Sql } from '../../storage/connections/pool.ts';
import { countUsersLocked } from '../../storage/control/usage.ts';
import { quotaExceeded } from './quota.ts';

/**
 * Throws `403 quota_exceeded` when the workspace has more than `max` users, which is from `quotaLimit`. It is called in the
 * transaction that has just added a user, and rolls that back. Checked earlier, it would tell a caller who is refused for
 * other reasons that an address is not registered.
 */
export async function requireUserQuota(sql: Sql, max: number | undefined): Promise<void> {
  if (max === undefined) return;
  if (await countUsersLocked(sql) > max) throw quotaExceeded('quota.users', max);
}
