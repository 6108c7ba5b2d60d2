// The second step of a login: a code of the authenticator or a recovery code.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { findToken, redeemToken } from '../../../storage/workspace/one-time-tokens.ts';
import { findUser } from '../../../storage/workspace/user-accounts.ts';
import { fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { beginAttempt } from './attempt.ts';
import { hashToken } from '../email/one-time.ts';
import { useSecondFactor } from '../totp/second-factor.ts';
import { type SignInDeps, type SignInOutcome, signInUser } from './sign-in-user.ts';
import { userAttempt } from './user-attempt.ts';

/**
 * Issues tokens. A wrong code counts like a wrong password, and the challenge stays valid: five wrong codes lock the user
 * for longer than its life. Throws `401 bad_credentials`, `403 forbidden` when the method of the first step has been
 * switched off, `429 too_many_requests`.
 */
export async function loginByTotp(
  deps: SignInDeps,
  workspace: WorkspaceDefinition,
  { challengeId, code, origin, now }: { challengeId: string; code: string; origin: RequestOrigin; now: Date },
): Promise<SignInOutcome> {
  const query = { purpose: 'mfa', hash: hashToken(challengeId), now } as const;
  const connection = deps.databases.workspace(workspace.database);
  const challenge = await connection.run((sql) => findToken(sql, query));
  if (challenge === undefined) failChallenge();
  const { email, user_id: userId, app, method } = challenge;
  if (userId === null || method === null) failChallenge();
  const attempt = userAttempt(deps, workspace, { email, proof: 'code', origin, now });
  await beginAttempt(deps, attempt);
  return await signInUser(deps, attempt, {
    workspace,
    app: app ?? undefined,
    method,
    isSecondStep: true,
    prove: async (sql) => {
      if (await findToken(sql, query) === undefined) return undefined;
      if (!await useSecondFactor(sql, deps.secrets, { userId, code, now })) return undefined;
      if (await redeemToken(sql, query) === undefined) failChallenge();
      return await findUser(sql, userId) ?? failChallenge();
    },
  });
}

function failChallenge(): never {
  fail('bad_credentials', 'the challenge is not valid, has expired or has been used');
}
