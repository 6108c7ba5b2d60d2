// The first proof that an address belongs to the user of an account.
import { dropLinks } from '../../../storage/workspace/oauth-links.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { dropRecoveryCodes } from '../../../storage/workspace/totp.ts';
import { dropCredentials, type UserRow } from '../../../storage/workspace/user-accounts.ts';

/**
 * Drops password, second factor and links to providers of an account whose address is proved for the first time: somebody
 * else may have created it (account pre-hijacking). `user` is locked. Returns true when it did, and tokens are to be revoked.
 */
export async function proveAddress(sql: Sql, user: UserRow, now: Date): Promise<boolean> {
  if (user.verified) return false;
  await dropCredentials(sql, user.id, now);
  await dropRecoveryCodes(sql, user.id);
  await dropLinks(sql, user.id);
  return true;
}
