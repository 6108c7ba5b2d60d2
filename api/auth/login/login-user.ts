// The login of an end-user by password.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { findUserByEmail, rehashUser } from '../../../storage/workspace/user-accounts.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { beginAttempt, clientOf, failAttempt, unlessRehashed } from './attempt.ts';
import { type SignInDeps, type SignInOutcome, signInUser } from './sign-in-user.ts';
import { requireMethod, userAttempt } from './user-attempt.ts';

/** The credentials of a user. */
export interface UserLogin {
  email: string;
  password: string;
  /** The only app that the tokens are valid for. */
  app?: string | undefined;
}

/** Issues tokens or a challenge. Throws `401 bad_credentials`, `403 forbidden`, `429 too_many_requests`. */
export async function loginUser(
  deps: SignInDeps,
  workspace: WorkspaceDefinition,
  login: UserLogin & { origin: RequestOrigin; now: Date },
): Promise<SignInOutcome> {
  const { email, password, app, origin, now } = login;
  await requireMethod(deps, 'password', { workspace: workspace.id, app });
  const attempt = userAttempt(deps, workspace, { email, origin, now });
  const { connection, actor } = attempt;
  const owner = `users of ${workspace.id}` as const;
  const { found: user, check } = await deps.passwords.findAndVerify(owner, password, async () => {
    await beginAttempt(deps, attempt);
    return await connection.run((sql) => findUserByEmail(sql, actor));
  }, clientOf(deps, attempt));
  if (user === undefined || !check.matches) return await failAttempt(deps, attempt);
  const prove = () => Promise.resolve(user);
  const signingIn = signInUser(deps, attempt, { workspace, app, method: 'password', prove });
  const signedIn = await unlessRehashed(check.isOutdated, signingIn);
  if (signedIn === undefined) return await loginUser(deps, workspace, login);
  await deps.passwords.renew(
    { owner, password, hash: user.password_hash },
    (hashes) => connection.run((sql) => rehashUser(sql, user.id, hashes)),
  );
  return signedIn.result;
}
