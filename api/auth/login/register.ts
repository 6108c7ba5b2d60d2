// The registration of an end-user with a password.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { StorageError } from '../../../storage/errors.ts';
import type { Deps } from '../../deps.ts';
import { failTaken } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { showUser, type User } from '../account/user-response.ts';
import { networkOf } from '../../http/client-network.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { addUser } from './add-user.ts';
import { normalizeName } from './attempt.ts';
import { checkNewPassword } from '../passwords/policy.ts';
import { requireMethod } from './user-attempt.ts';

/**
 * Registers a user, who is not logged in by it. Throws `400 validation`, `403 forbidden` where passwords are switched off,
 * `409 conflict` for an email that is taken. The caller cannot choose the id, because revocations of all workspaces are by
 * user id.
 */
export async function registerUser(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { email, password, origin, now }: { email: string; password: string; origin: RequestOrigin; now: Date },
): Promise<User> {
  const at = { workspace: workspace.id };
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'password', password });
  const address = normalizeName(email);
  const user = { id: deps.newId(), email: address, verified: false, now };
  const mostUsers = await quotaLimit(deps.policies, 'quota.users', at);
  const password_hash = await deps.passwords.hash(`users of ${workspace.id}`, password, {
    network: networkOf(origin.ip),
    turn: 'others',
  });
  const row = await deps.databases.workspace(workspace.database).transaction((sql) =>
    addUser(sql, deps, { ...user, password_hash, mostUsers, how: {}, origin })
  ).catch(refuseDuplicateUser);
  return showUser(row);
}

/** True when another user has the address. */
export function isDuplicateUser(error: unknown): boolean {
  return error instanceof StorageError && error.constraint?.startsWith('users_email') === true;
}

/** Translates a violation of the unique constraint to `409 conflict`. Throws other errors as they are. */
export function refuseDuplicateUser(error: unknown): never {
  if (isDuplicateUser(error)) failDuplicateUser();
  throw error;
}

/** Ends a request for an address that a user has. */
export function failDuplicateUser(): never {
  failTaken('email', 'a user with this email already exists');
}
