// The quota of end-users: asked in the transaction that makes one, so that it holds exactly.
import type { Sql } from '../../storage/connections/pool.ts';
import { countUsersLocked } from '../../storage/control/usage.ts';
import { quotaExceeded } from './quota.ts';

/**
 * To be called in the transaction that has just made a user, which is to be rolled back when this throws: `403
 * quota_exceeded` where there are more now than there may be. Not before, so that it says nothing of who is registered to
 * somebody who is refused for other reasons. `most` is from `mostOf`.
 */
export async function requireUserQuota(sql: Sql, most: number | undefined): Promise<void> {
  if (most === undefined) return;
  if (await countUsersLocked(sql) > most) throw quotaExceeded('quota.users', most);
}
