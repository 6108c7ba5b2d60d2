// The common part of all sign-ins of end-users.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import type { LoginMethod } from '../../../storage/workspace/one-time-tokens.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { TenantPath } from '../../scope.ts';
import { type Attempt, normalizeName } from './attempt.ts';
import { sessionStore } from '../sessions/sessions.ts';
import { asciiAddress } from '../../../storage/sql/email-address.ts';

/** An attempt of an end-user. Failures by password, mailed code and second factor are counted together. */
export function userAttempt(
  deps: Pick<Deps, 'databases'>,
  workspace: WorkspaceDefinition,
  { email, ...of }: { email: string } & Pick<Attempt, 'proof' | 'origin' | 'now'>,
): Attempt {
  const actor = normalizeName(email);
  return { ...sessionStore(deps, workspace), as: 'user', subject: userSubject(actor), actor, ...of };
}

/** The key that failures of an end-user are counted by. */
export function userSubject(actor: string): string {
  return `user:${asciiAddress(actor)}`;
}

/** Throws `403 forbidden` when policy `auth.methods` has switched the method off. */
export async function requireMethod(
  { policies }: Pick<Deps, 'policies'>,
  method: LoginMethod,
  at: TenantPath,
): Promise<void> {
  const allowed = await policies.set('auth.methods', at);
  if (!allowed.includes(method)) fail('forbidden', `logging in by ${method} is switched off here`);
}
