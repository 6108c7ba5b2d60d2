// The change of an end-user's own password, which ends every session but for new tokens of this client.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertSession } from '../../../storage/sessions.ts';
import { spendMail } from '../../../storage/workspace/mail-budgets.ts';
import { voidTokens } from '../../../storage/workspace/one-time-tokens.ts';
import { findUser, setPassword, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { logFailure } from '../../logging/events.ts';
import { mailLimits, noticeLifeSeconds } from '../email/one-time.ts';
import { clearFailures, clientOf } from '../login/attempt.ts';
import { issueSignIn } from '../login/issue-sign-in.ts';
import { type SignInDeps, userGrant, type UserSession } from '../login/sign-in-user.ts';
import { requireMethod } from '../login/user-attempt.ts';
import { checkNewPassword } from '../passwords/policy.ts';
import { prepareSession, type SessionDraft, sessionTerms } from '../sessions/sessions.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import { failNoPrincipal, requireUser } from './me.ts';
import { changeProved, provePassword } from './prove-password.ts';
import { showUser } from './user-response.ts';

type ChangeDeps = SignInDeps & Pick<Deps, 'mail' | 'observe'>;

/** The change of a user's own password. */
export interface PasswordChange extends Caller {
  current: string;
  next: string;
}

/**
 * Changes the password, and returns new tokens for the same app as before: all others end, also copies of the caller's own.
 * Throws `400 validation` for a weak password, `401 bad_credentials` for a wrong current one, which counts like a failed
 * login, `403 forbidden` where passwords are switched off, `409 conflict` without a password, `429 too_many_requests`.
 */
export async function changeOwnPassword(
  deps: ChangeDeps,
  workspace: WorkspaceDefinition,
  change: PasswordChange,
): Promise<UserSession> {
  const { current, next, principal, origin, now } = change;
  const at = { workspace: workspace.id };
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'new_password', password: next });
  const user = await requireUser(deps, principal, workspace);
  if (user.password_hash === null) {
    fail('conflict', 'the account has no password; set its first one by password-reset');
  }
  const proof = await provePassword(deps, workspace, { user, password: current, origin, now });
  const hash = await deps.passwords.hash(`users of ${workspace.id}`, next, clientOf(deps, proof.attempt));
  // A token that was limited to an app must not become one for all.
  const app = principal.apps === undefined ? undefined : principal.apps[0] ?? failNoPrincipal();
  const terms = await sessionTerms(deps, { ...at, app });
  const changed = await changeProved(deps, proof, async (sql, { id: userId, email }) => {
    await setPassword(sql, userId, { hash, now });
    await voidTokens(sql, { userId, email, now });
    await revokeAllTokens(sql, deps, { userId, now });
    // Made after the revocation, so that it does not end with the others.
    const id = deps.revocations.newId();
    const grant = userGrant({ id: userId, ...at, app });
    const draft = prepareSession(deps, { id, kind: 'user', grant, app, origin }, terms);
    await insertSession(sql, 'workspace', draft.row);
    await clearFailures(sql, deps, proof.attempt);
    const event = { actor: email, action: 'password_change', target: email, origin };
    await auditWorkspace(sql, deps, { ...event, details: { id: userId } });
    return await withNotice(sql, draft, { userId, now });
  });
  if (changed === undefined) return await changeOwnPassword(deps, workspace, change);
  const { draft, user: shown, isNoticed } = changed.result;
  if (isNoticed) await notify(deps, workspace, shown.email);
  return { pair: await issueSignIn(deps, proof.attempt, draft), user: showUser(shown) };
}

/** Decides whether the user gets a notice. A mail to an address that nobody has proved could be to a stranger. */
async function withNotice(
  sql: Sql,
  draft: SessionDraft,
  { userId, now }: { userId: string; now: Date },
): Promise<{ draft: SessionDraft; user: UserRow; isNoticed: boolean }> {
  const user = await findUser(sql, userId) ?? failNoPrincipal();
  const mail = { purpose: 'password_changed', email: user.email, now, limits: mailLimits } as const;
  return { draft, user, isNoticed: user.verified && await spendMail(sql, mail) };
}

async function notify(
  deps: Pick<Deps, 'mail' | 'observe'>,
  { id: workspace }: WorkspaceDefinition,
  to: string,
): Promise<void> {
  const kind = 'password-changed';
  const notice = {
    workspace,
    kind,
    to,
    secret: null,
    lifeSeconds: noticeLifeSeconds,
    discard: false,
  } as const;
  // The password is changed, even if this fails.
  await deps.mail.enqueue(notice).catch(logFailure(deps, 'tell of a new password'));
}
