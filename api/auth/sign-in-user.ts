// The last step of every way in: an end-user who has proved who they are gets a session.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { insertSession, pruneSessions } from '../../storage/sessions.ts';
import { noteLogin, type UserRow } from '../../storage/user-accounts.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { showUser, type User } from '../users/shape.ts';
import { type Attempt, completeAttempt } from './attempt.ts';
import type { Grant } from './claims.ts';
import type { TokenPair } from './cookies.ts';
import { draftSession, tokensOf } from './sessions.ts';

/** What signing in needs. */
export type SignInDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'passwords' | 'policies' | 'secrets' | 'tokens' | 'newId' | 'now'
>;

/** Who signs in, and for what. */
export interface SignIn {
  workspace: WorkspaceDefinition;
  /** As it was read when the credentials were checked. */
  user: UserRow;
  /** A v7 UUID that was made before `user` was read; see SessionStart. */
  sessionId: string;
  /** The only app that the tokens are to be good for. */
  app: string | undefined;
}

/** Tokens, and whose they are. */
export interface UserSession {
  pair: TokenPair;
  user: User;
}

/** How a way in ends. */
export type SignInOutcome = UserSession;

/**
 * Throws `401 bad_credentials` when the credentials were changed meanwhile, `403 forbidden` for an app that does not
 * exist, `429 too_many_requests` when others have locked the user meanwhile.
 */
export async function signInUser(
  deps: SignInDeps,
  attempt: Attempt,
  { workspace, user, sessionId: id, app }: SignIn,
): Promise<SignInOutcome> {
  const { origin, now } = attempt;
  const grant = await userGrant(deps, { id: user.id, workspace: workspace.id, app }) ??
    fail('forbidden', `there is no app "${app}" for this user`);
  const draft = await draftSession(deps, { id, kind: 'user', grant, app, origin });
  let current = user;
  await completeAttempt(deps, attempt, async (sql) => {
    current = await noteLogin(sql, user, now) ?? fail('bad_credentials', 'the credentials were just changed');
    await insertSession(sql, 'workspace', draft.row);
    await pruneSessions(sql, 'workspace', now);
  });
  return { pair: await tokensOf(deps, draft), user: showUser(current) };
}

/** What a user's token lets it do; undefined when it is for an app that does not exist. */
export async function userGrant(
  { definitions }: Pick<Deps, 'definitions'>,
  { id, workspace, app }: { id: string; workspace: string; app: string | undefined },
): Promise<Grant | undefined> {
  if (app === undefined) return { role: 'user', id, workspace };
  if (await definitions.app(workspace, app) === undefined) return undefined;
  return { role: 'user', id, workspace, apps: [app] };
}
