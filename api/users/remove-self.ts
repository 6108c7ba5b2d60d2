// An end-user deletes the own account.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid, uuidTime } from '../../storage/sql/ids.ts';
import { findSession } from '../../storage/sessions.ts';
import type { UserRow } from '../../storage/workspace/user-accounts.ts';
import type { Caller } from '../audit/actor.ts';
import { requireUser } from '../auth/account/me.ts';
import { provePassword } from '../auth/account/prove-password.ts';
import { CredentialsChanged } from '../auth/login/attempt.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { removeUser } from './remove.ts';

type RemoveDeps = Parameters<typeof removeUser>[0] & Pick<Deps, 'passwords' | 'secrets'>;

/** The time after a sign-in in which an account can be deleted without its password. */
const freshMs = 600_000;

/**
 * Removes the caller as an admin would. Throws `403 forbidden` unless policy `auth.self_delete` of the workspace allows it,
 * and without the password when the sign-in is too long ago; `401 bad_credentials` for a wrong password, which counts like
 * a failed login; `429 too_many_requests`; and what `removeUser` throws.
 */
export async function removeSelf(
  deps: RemoveDeps,
  workspace: WorkspaceDefinition,
  { password, ...by }: { password?: string | undefined } & Caller,
): Promise<void> {
  // The account is one for all apps, so no app alone may allow it.
  if (!await deps.policies.toggle('auth.self_delete', { workspace: workspace.id })) {
    fail('forbidden', 'policy auth.self_delete does not allow end-users to delete their account');
  }
  const user = await requireUser(deps, by.principal, workspace);
  if (password !== undefined) await provePassword(deps, workspace, { user, password, ...by });
  else if (!await isFresh(deps, workspace, by)) {
    fail('forbidden', 'send the password, or sign in again and delete the account within 10 minutes');
  }
  const { id, email } = user;
  await removeUser(deps, { workspace, id }, by, { email, requireSame: (now) => requireSame(user, now) });
}

/** True when the login that the token belongs to began a moment ago, whatever its tokens were exchanged for since. */
async function isFresh(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  { principal: { id, jti }, now }: Caller,
): Promise<boolean> {
  if (!isUuid(jti)) return false;
  const session = await databases.workspace(database).run((sql) =>
    findSession(sql, 'workspace', { id: jti })
  );
  return session?.principal_id === id && Math.abs(now.getTime() - uuidTime(session.family)) <= freshMs;
}

/** A change of credentials ends the proof. */
function requireSame(proved: UserRow, { password_hash, totp_enabled }: UserRow): void {
  const isSame = password_hash === proved.password_hash && totp_enabled === proved.totp_enabled;
  if (!isSame) throw new CredentialsChanged();
}
