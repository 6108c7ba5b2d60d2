// Redeems tokens that were mailed to users.
import { findToken, redeemToken, type TokenQuery } from '../../../storage/workspace/one-time-tokens.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { lockUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { refuseToken } from './one-time.ts';

/**
 * Redeems a token, and returns its user, locked, with the address that it was mailed to. The user is locked before the
 * token, as where all tokens of a user are voided: else two requests could deadlock. Throws `400 validation`.
 */
export async function redeemMailed(sql: Sql, query: TokenQuery): Promise<{ user: UserRow; email: string }> {
  const { user_id, email } = await findToken(sql, query) ?? refuseToken();
  const user = user_id === null ? undefined : await lockUser(sql, user_id);
  if (user === undefined || await redeemToken(sql, query) === undefined) refuseToken();
  return { user, email };
}
