// The change of an end-user's address, confirmed by a token that is mailed to the new one.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { spendMail } from '../../../storage/workspace/mail-budgets.ts';
import { insertToken, voidTokens } from '../../../storage/workspace/one-time-tokens.ts';
import { findUserId, setEmail } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { normalizeName } from '../login/attempt.ts';
import { requireUser } from '../account/me.ts';
import { changeProved, provePassword } from '../account/prove-password.ts';
import {
  draftToken,
  hashToken,
  mailedTokenLifeSeconds,
  mailLimits,
  makeToken,
  noticeLifeSeconds,
  refuseToken,
} from './one-time.ts';
import { redeemMailed } from './redeem.ts';
import { refuseDuplicateUser } from '../login/register.ts';

/**
 * Mails a token to the new address, unless another user has it, which the response does not tell. Throws
 * `401 bad_credentials` for a wrong password, which counts like a failed login, and `429 too_many_requests`.
 */
export async function requestEmailChange(
  deps: Pick<Deps, 'databases' | 'mail' | 'mailBudgets' | 'passwords' | 'secrets' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  change: { email: string; password: string } & Caller,
): Promise<void> {
  const { email: text, password, principal, origin, now } = change;
  const user = await requireUser(deps, principal, workspace);
  const proof = await provePassword(deps, workspace, { user, password, origin, now });
  const email = normalizeName(text);
  const isAllowed = await deps.mailBudgets.spend(workspace.id, origin.ip);
  const secret = makeToken();
  const lifeSeconds = mailedTokenLifeSeconds;
  const hash = hashToken(secret);
  // A reset ends all pending changes, so none may begin with the password from before it.
  const begun = await changeProved(deps, proof, async (sql, { id: userId }) => {
    if (!isAllowed || !await spendMail(sql, { purpose: 'email_change', email, now, limits: mailLimits })) {
      return true;
    }
    await voidTokens(sql, { userId, purpose: 'email_change', now });
    await insertToken(
      sql,
      draftToken(deps, { purpose: 'email_change', email, userId, hash, lifeSeconds, now }),
    );
    return await findUserId(sql, email) !== undefined;
  });
  if (begun === undefined) return await requestEmailChange(deps, workspace, change);
  await deps.mail.enqueue({
    workspace: workspace.id,
    kind: 'email-change',
    to: email,
    account: user.email,
    secret,
    lifeSeconds,
    discard: begun.result,
  });
}

/**
 * Changes the address and notifies the old one. It needs the mail and a session of the user who asked: whoever reads the
 * mail alone may not know whose account it is about. Throws `400 validation` for an invalid token or that of another user,
 * `409 conflict` when another user has the new address by now.
 */
export async function confirmEmailChange(
  deps: Pick<Deps, 'databases' | 'definitions' | 'mail' | 'newId' | 'now' | 'observe'>,
  workspace: WorkspaceDefinition,
  { token, principal, origin, now }: { token: string } & Caller,
): Promise<void> {
  const query = { purpose: 'email_change', hash: hashToken(token), now } as const;
  const connection = deps.databases.workspace(workspace.database);
  const oldEmail = await connection.transaction(async (sql) => {
    const { user, email } = await redeemMailed(sql, query);
    if (user.id !== principal.id) refuseToken();
    await setEmail(sql, user.id, { email, now });
    // Tokens that were mailed to the old address must not work any more.
    await voidTokens(sql, { userId: user.id, email: user.email, now });
    await auditWorkspace(sql, deps, {
      actor: user.email,
      action: 'email_change',
      target: email,
      details: { id: user.id, from: user.email },
      origin,
    });
    return user.email;
  }).catch(refuseDuplicateUser);
  // The address is changed, even if the next steps fail. Open streams have read it for their rules, and read it again.
  await deps.definitions.invalidate(workspace.id)
    .catch(logFailure(deps, 'review streams for a new address'));
  const notice = {
    kind: 'email-changed',
    secret: null,
    lifeSeconds: noticeLifeSeconds,
    discard: false,
  } as const;
  await deps.mail.enqueue({ ...notice, workspace: workspace.id, to: oldEmail })
    .catch(logFailure(deps, 'tell the old address'));
}
