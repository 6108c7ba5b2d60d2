// The reset of a password by a mailed token.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { deleteFailures } from '../../../storage/lockouts.ts';
import { findToken, replaceToken, voidTokens } from '../../../storage/workspace/one-time-tokens.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { findUserId, setPassword, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { networkOf } from '../../http/client-network.ts';
import { normalizeName } from '../login/attempt.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import {
  chooseRecipient,
  draftToken,
  hashToken,
  mailedTokenLifeSeconds,
  mailLimits,
  makeToken,
  refuseToken,
} from './one-time.ts';
import { checkNewPassword } from '../passwords/policy.ts';
import { proveAddress } from './prove-address.ts';
import { redeemMailed } from './redeem.ts';
import { requireMethod, userSubject } from '../login/user-attempt.ts';
import { asciiAddress } from '../../../storage/sql/email-address.ts';

/**
 * Mails a token to a user. For an unknown address it does the same work, in the same time, without a mail. Throws
 * `403 forbidden` where passwords are switched off.
 */
export async function requestReset(
  deps: Pick<Deps, 'databases' | 'mail' | 'mailBudgets' | 'policies' | 'newId'>,
  workspace: WorkspaceDefinition,
  { email: text, ip, now }: { email: string; ip: string; now: Date },
): Promise<void> {
  await requireMethod(deps, 'password', { workspace: workspace.id });
  // That of a spent budget is no user's, so nothing is sent.
  const { email } = await chooseRecipient(deps, { workspace: workspace.id, email: normalizeName(text), ip });
  const secret = makeToken();
  const lifeSeconds = mailedTokenLifeSeconds;
  const discard = await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const found = await findUserId(sql, email);
    const hash = hashToken(secret);
    const purpose = 'password_reset';
    const token = draftToken(deps, { purpose, email, userId: found, hash, lifeSeconds, now });
    const replaced = await replaceToken(sql, token, mailLimits);
    return found === undefined || !replaced;
  });
  await deps.mail.enqueue({
    workspace: workspace.id,
    kind: 'password-reset',
    to: email,
    secret,
    lifeSeconds,
    discard,
  });
}

/**
 * Sets a new password, and ends all sessions and a lock of the user. Throws `400 validation` for an invalid token or a weak
 * password, `403 forbidden` where passwords have been switched off.
 */
export async function confirmReset(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'revocations' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { token, password, origin, now }: { token: string; password: string; origin: RequestOrigin; now: Date },
): Promise<void> {
  const at = { workspace: workspace.id };
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'new_password', password });
  const connection = deps.databases.workspace(workspace.database);
  const query = { purpose: 'password_reset', hash: hashToken(token), now } as const;
  // A hash is expensive, so an invalid token is refused before it.
  if (await connection.run((sql) => findToken(sql, query)) === undefined) refuseToken();
  const hash = await deps.passwords.hash(`users of ${workspace.id}`, password, {
    network: networkOf(origin.ip),
    turn: 'others',
  });
  await connection.transaction(async (sql) => {
    const { user, email } = await redeemMailed(sql, query);
    if (asciiAddress(user.email) !== asciiAddress(email)) refuseToken();
    await replacePassword(sql, deps, { user, hash, now });
    const details = { id: user.id };
    await auditWorkspace(sql, deps, {
      actor: email,
      action: 'password_reset',
      target: email,
      details,
      origin,
    });
  });
}

async function replacePassword(
  sql: Sql,
  deps: Pick<Deps, 'databases' | 'revocations'>,
  { user, hash, now }: { user: UserRow; hash: string; now: Date },
): Promise<void> {
  await proveAddress(sql, user, now);
  await setPassword(sql, user.id, { hash, now });
  await voidTokens(sql, { userId: user.id, email: user.email, now });
  // Ends a lock, else anybody could lock a user out. It stays while a second factor that could be guessed remains.
  if (!user.verified || !user.totp_enabled) await deleteFailures(sql, 'workspace', userSubject(user.email));
  await revokeAllTokens(sql, deps, { userId: user.id, now });
}
