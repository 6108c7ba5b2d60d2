// The last step of every way in: an end-user who has proved who they are gets a session, or is asked for more.
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
  CredentialsChanged,
  refuseAttempt,
  succeedWithin,
  tryExclusively,
} from './attempt.ts';
import type { Grant } from '../tokens/claims.ts';
import type { TokenPair } from '../sessions/cookies.ts';
import { draftToken, hashToken, makeToken } from '../email/one-time.ts';
import { isDuplicateUser } from './register.ts';
import {
  issueTokens,
  prepareSession,
  type SessionDraft,
  type SessionTerms,
  sessionTerms,
} from '../sessions/sessions.ts';
import { requireMethod } from './user-attempt.ts';

/** What signing in needs. */
export type SignInDeps = Pick<
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
>;

/** Who signs in, and for what. */
export interface SignIn {
  workspace: WorkspaceDefinition;
  /** The only app that the tokens are to be good for. */
  app: string | undefined;
  /** The way in; of the second step, that of the first. */
  method: LoginMethod;
  /**
   * Uses up what proves who it is, and answers the user; undefined when it proves nothing, and has changed nothing. In
   * one transaction with the session: others who try the same at once cannot come in between. Asked once more, in another
   * transaction, when the user that it makes is registered by somebody else at that moment.
   */
  prove(sql: Sql): Promise<UserRow | undefined>;
  /** The second factor has just been shown. */
  isSecondStep?: boolean;
}

/** Tokens, and whose they are. */
export interface UserSession {
  pair: TokenPair;
  user: User;
}

/** How a way in ends: with tokens, or with a challenge for the second factor. */
export type SignInOutcome = UserSession | { challenge_id: string };

const challengeLifeSeconds = 300;

/**
 * Throws `401 bad_credentials`, `403 forbidden` for an app that does not exist and a way in that is switched off,
 * `429 too_many_requests` when others have locked the user meanwhile.
 */
export async function signInUser(
  deps: SignInDeps,
  attempt: Attempt,
  { workspace, app, method, prove, isSecondStep = false }: SignIn,
): Promise<SignInOutcome> {
  if (app !== undefined && await deps.definitions.app(workspace.id, app) === undefined) {
    await refuseAttempt(deps, attempt, `there is no app "${app}" for this user`);
  }
  // Asked at the end, however long it is since the beginning.
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
    // Now there is an account of the address, and here is whose address it is.
    if (isDuplicateUser(error)) return sign();
    throw error;
  });
  if ('challenge_id' in result) return result;
  return { pair: await issueTokens(deps, result.draft), user: showUser(result.user) };
}

/** What a user's token lets it do. */
export function userGrant(
  { id, workspace, app }: { id: string; workspace: string; app: string | undefined },
): Grant {
  return { role: 'user', id, workspace, ...(app === undefined ? {} : { apps: [app] }) };
}

/** The failures of this user go on counting: a right password alone completes nothing. */
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
  // Whoever changes the credentials ends all challenges there are, so none may be made afterwards.
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
  // The row is locked by now: whoever changes it afterwards revokes up to a later instant than this id's.
  const id = deps.revocations.newId();
  const grant = userGrant({ id: user.id, workspace, app });
  const draft = prepareSession(deps, { id, kind: 'user', grant, app, origin }, terms);
  // Sent together: a round trip for each would take as long again.
  await Promise.all([
    insertSession(sql, 'workspace', draft.row),
    succeedWithin(sql, deps, attempt),
  ]);
  return { draft, user: current };
}
