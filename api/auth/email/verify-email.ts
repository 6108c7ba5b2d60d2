// The verification of an end-user's address by a mailed token.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { replaceToken, voidTokens } from '../../../storage/workspace/one-time-tokens.ts';
import { lockUser, setVerified } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { Principal } from '../../scope.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import { failNoPrincipal, requireUser } from '../account/me.ts';
import {
  draftToken,
  hashToken,
  mailedTokenLifeSeconds,
  mailLimits,
  makeToken,
  refuseToken,
} from './one-time.ts';
import { proveAddress } from './prove-address.ts';
import { redeemMailed } from './redeem.ts';

/** Mails a token to the user's address. Earlier ones become invalid. Throws `401` when the user does not exist any more. */
export async function requestVerification(
  deps: Pick<Deps, 'databases' | 'mail' | 'mailBudgets' | 'newId'>,
  workspace: WorkspaceDefinition,
  { principal, origin, now }: Caller,
): Promise<void> {
  const { id: userId, email } = await requireUser(deps, principal, workspace);
  const isAllowed = await deps.mailBudgets.spend(workspace.id, origin.ip);
  const secret = makeToken();
  const lifeSeconds = mailedTokenLifeSeconds;
  const purpose = 'verify_email';
  const token = draftToken(deps, { purpose, email, userId, hash: hashToken(secret), lifeSeconds, now });
  const replaced = await deps.databases.workspace(workspace.database)
    .transaction(async (sql) => {
      await lockUser(sql, userId) ?? failNoPrincipal();
      return isAllowed && await replaceToken(sql, token, mailLimits);
    });
  await deps.mail.enqueue({
    workspace: workspace.id,
    kind: 'verify-email',
    to: email,
    secret,
    lifeSeconds,
    discard: !replaced,
  });
}

/**
 * Marks the address as verified. Without a session of the user, the account loses what somebody else may have left in it:
 * password, second factor, links and sessions. Throws `400 validation` for an invalid token, also when the address has
 * changed since.
 */
export async function confirmVerification(
  deps: Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>,
  { database }: WorkspaceDefinition,
  { token, principal, origin, now }: {
    token: string;
    principal: Principal | null;
    origin: RequestOrigin;
    now: Date;
  },
): Promise<void> {
  const hash = hashToken(token);
  await deps.databases.workspace(database).transaction(async (sql) => {
    const { user, email } = await redeemMailed(sql, { purpose: 'verify_email', hash, now });
    if (user.email !== email) refuseToken();
    const isOwn = principal?.role === 'user' && principal.id === user.id;
    const cleaned = !isOwn && await proveAddress(sql, user, now);
    if (cleaned) {
      await voidTokens(sql, { userId: user.id, email, now });
      await revokeAllTokens(sql, deps, { userId: user.id, now });
    } else {
      await setVerified(sql, user.id, { verified: true, now });
    }
    await auditWorkspace(sql, deps, {
      actor: email,
      action: 'email_verify',
      target: email,
      details: { id: user.id, credentials_dropped: cleaned },
      origin,
    });
  });
}
