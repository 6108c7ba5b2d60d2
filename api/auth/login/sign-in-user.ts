// The last step of every sign-in of an end-user: it creates a session, or asks for the second factor.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { insertToken, type LoginMethod } from '../../../storage/workspace/one-time-tokens.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertSession } from '../../../storage/sessions.ts';
import { lockUser, recordLogin, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import type { Deps } from '../../deps.ts';
import { showUser, type User } from '../account/user-response.ts';
import {
  type Attempt,
  auditAttempt,
  completeAttempt,
  CredentialsChanged,
  refuseAttempt,
  tryExclusively,
} from './attempt.ts';
import type { Grant } from '../tokens/claims.ts';
import type { TokenPair } from '../sessions/cookies.ts';
import { draftToken, hashToken, makeToken } from '../email/one-time.ts';
import { isDuplicateUser } from './register.ts';
import { prepareSession, type SessionDraft, type SessionTerms, sessionTerms } from '../sessions/sessions.ts';
import { issueSignIn } from './issue-sign-in.ts';
import { requireMethod } from './user-attempt.ts';
import { runLoginHooks, type UserHooksDeps } from './user-hooks.ts';

/** The dependencies of a sign-in. */
export type SignInDeps =
  & Pick<
    Deps,
    | 'databases'
    | 'definitions'
    | 'passwords'
    | 'policies'
    | 'revocations'
    | 'secrets'
    | 'tokens'
    | 'newId'
    | 'now'
  >
  & UserHooksDeps;

/** A sign-in of an end-user. */
export interface SignIn {
  workspace: WorkspaceDefinition;
  /** The only app that the tokens are valid for. */
  app: string | undefined;
  /** The method of the first step. */
  method: LoginMethod;
  /**
   * Redeems the credentials and returns the user. Returns undefined for wrong ones, having changed nothing but counts. It runs in
   * the transaction that creates the session, so simultaneous sign-ins cannot redeem the same. It runs again, in another
   * transaction, when the user that it creates was registered at that moment.
   */
  prove(sql: Sql): Promise<UserRow | undefined>;
  /** True when the second factor has been verified. */
  isSecondStep?: boolean;
}

/** The tokens of a user. */
export interface UserSession {
  pair: TokenPair;
  user: User;
}

/** The result of a sign-in: tokens, or a challenge for the second factor. */
export type SignInOutcome = UserSession | { challenge_id: string };

const challengeLifeSeconds = 300;

/**
 * Signs a user in. Throws `401 bad_credentials`, `403 forbidden` for an app that does not exist and a method that is switched
 * off, `429 too_many_requests` when failures of other attempts have locked the user.
 */
export async function signInUser(
  deps: SignInDeps,
  attempt: Attempt,
  { workspace, app, method, prove, isSecondStep = false }: SignIn,
): Promise<SignInOutcome> {
  if (app !== undefined && await deps.definitions.app(workspace.id, app) === undefined) {
    await refuseAttempt(deps, attempt, `there is no app "${app}" for this user`);
  }
  // Checked again, as the method may have been switched off since the sign-in began.
  await requireMethod(deps, method, { workspace: workspace.id, app });
  const terms = await sessionTerms(deps, { workspace: workspace.id, app });
  const sign = () =>
    tryExclusively(deps, attempt, async (sql) => {
      const user = await prove(sql);
      if (user === undefined) return undefined;
      return user.totp_enabled && !isSecondStep
        ? await challenge(sql, deps, { attempt, user, app, method })
        : await begin(sql, deps, { attempt, user, workspace: workspace.id, app, terms });
    });
  const result = await sign().catch((error: unknown) => {
    // The address was registered meanwhile, and the second try finds its user.
    if (isDuplicateUser(error)) return sign();
    throw error;
  });
  if ('challenge_id' in result) return result;
  const pair = await issueSignIn(deps, attempt, result.draft);
  const { user } = result;
  await runLoginHooks(deps, workspace, { user, method, app, requestId: attempt.origin.requestId });
  return { pair, user: showUser(user) };
}

/** The grant of a user's token. */
export function userGrant(
  { id, workspace, app }: { id: string; workspace: string; app: string | undefined },
): Grant {
  return { role: 'user', id, workspace, ...(app === undefined ? {} : { apps: [app] }) };
}

/** Creates a challenge. Failures of the user stay counted, because the sign-in is not complete. */
async function challenge(
  sql: Sql,
  deps: SignInDeps,
  { attempt, user: { id: userId, email, password_hash }, app, method }: {
    attempt: Attempt;
    user: UserRow;
    app: string | undefined;
    method: LoginMethod;
  },
): Promise<{ challenge_id: string }> {
  // A change of credentials ends all challenges, so none may be created for the old ones after it.
  const current = await lockUser(sql, userId);
  if (current?.password_hash !== password_hash || !current.totp_enabled) throw new CredentialsChanged();
  const challenge_id = makeToken();
  const hash = hashToken(challenge_id);
  const terms = { app, method, lifeSeconds: challengeLifeSeconds, now: attempt.now };
  await insertToken(sql, draftToken(deps, { purpose: 'mfa', email, userId, hash, ...terms }));
  await auditAttempt(sql, deps, attempt, { action: 'mfa_required', details: { by: method } });
  return { challenge_id };
}

async function begin(
  sql: Sql,
  deps: SignInDeps,
  { attempt, user, workspace, app, terms }: {
    attempt: Attempt;
    user: UserRow;
    workspace: string;
    app: string | undefined;
    terms: SessionTerms;
  },
): Promise<{ draft: SessionDraft; user: UserRow }> {
  const { origin, now } = attempt;
  const current = await recordLogin(sql, user, now);
  if (current === undefined) throw new CredentialsChanged();
  // The row is locked, so a later change of it revokes up to a later instant than that of this id.
  const id = deps.revocations.newId();
  const grant = userGrant({ id: user.id, workspace, app });
  const draft = prepareSession(deps, { id, kind: 'user', grant, app, origin }, terms);
  // Sent together, to save a round trip.
  await Promise.all([
    insertSession(sql, 'workspace', draft.row),
    completeAttempt(sql, deps, attempt),
  ]);
  return { draft, user: current };
}
