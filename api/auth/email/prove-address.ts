// What happens to an account when somebody shows for the first time that its address is theirs.
import { dropLinks } from '../../../storage/workspace/oauth-links.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { dropRecoveryCodes } from '../../../storage/workspace/totp.ts';
import { dropCredentials, type UserRow } from '../../../storage/workspace/user-accounts.ts';

/**
 * Whoever made an account for an address that was not theirs keeps nothing of it (account pre-hijacking): password,
 * second factor and links to providers go. Answers whether there was anything to clean, and so tokens to end. `user` is
 * locked.
 */
export async function proveAddress(sql: Sql, user: UserRow, now: Date): Promise<boolean> {
  if (user.verified) return false;
  await dropCredentials(sql, user.id, now);
  await dropRecoveryCodes(sql, user.id);
  await dropLinks(sql, user.id);
  return true;
}
