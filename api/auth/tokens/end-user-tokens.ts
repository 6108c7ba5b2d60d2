// Ends all that an end-user has been issued.
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertRevocations } from '../../../storage/control/revocations.ts';
import { revokeSessions } from '../../../storage/sessions.ts';
import type { Deps } from '../../deps.ts';

/**
 * Revokes the access tokens of a user whose row the caller's transaction has locked. They are in another database, so
 * they end first: when the transaction then fails, the user has to log in again and nothing else is lost.
 */
export async function revokeAccessTokens(
  { databases, revocations }: Pick<Deps, 'databases' | 'revocations'>,
  userId: string,
): Promise<void> {
  const rows = [revocations.row('subject', userId)];
  await databases.control.transaction((sql) => insertRevocations(sql, rows));
  revocations.apply(rows);
}

/** The same for access and refresh tokens; `sql` is the transaction that has locked the user's row. */
export async function revokeAllTokens(
  sql: Sql,
  deps: Pick<Deps, 'databases' | 'revocations'>,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await revokeSessions(sql, 'workspace', { principalId: userId, spared: undefined, now });
  await revokeAccessTokens(deps, userId);
}
