// The registration of an end-user with a password.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { findUserId } from '../../../storage/workspace/user-accounts.ts';
import { StorageError } from '../../../storage/errors.ts';
import type { Deps } from '../../deps.ts';
import { fail, failTaken } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { showUser, type User } from '../account/user-response.ts';
import { networkOf } from '../../http/client-network.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { addUser } from './add-user.ts';
import { normalizeName } from './attempt.ts';
import { checkNewPassword } from '../passwords/policy.ts';
import { requireMethod } from './user-attempt.ts';
import { hooksBeforeRegister, type UserHooksDeps } from './user-hooks.ts';

/** Somebody who wants to be a user. */
export interface Registration {
  email: string;
  password: string;
  /** The app by which the user comes, whose hooks have a say in it. */
  app?: string | undefined;
  origin: RequestOrigin;
  now: Date;
}

/**
 * Registers a user, who is not logged in by it. Throws `400 validation`, `403 forbidden` where passwords are switched off and
 * for an app that does not exist, `409 conflict` for an email that is taken, and what hooks throw. The caller cannot choose
 * the id, because revocations of all workspaces are by user id.
 */
export async function registerUser(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'> & UserHooksDeps,
  workspace: WorkspaceDefinition,
  { email, password, app, origin, now }: Registration,
): Promise<User> {
  const at = { workspace: workspace.id, app };
  if (app !== undefined && await deps.definitions.app(workspace.id, app) === undefined) {
    fail('forbidden', `there is no app "${app}" for this user`);
  }
  const beforeRegister = await hooksBeforeRegister(deps, workspace, app);
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'password', password });
  const address = normalizeName(email);
  const user = { id: deps.newId(), email: address, verified: false, now };
  if (beforeRegister !== undefined) {
    await requireFree(deps, workspace, address);
    await beforeRegister({ user, method: 'password', requestId: origin.requestId });
  }
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

/** Hooks are asked about new users only. Throws `409 conflict`. */
async function requireFree(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  email: string,
): Promise<void> {
  const taken = await databases.workspace(database).run((sql) => findUserId(sql, email));
  if (taken !== undefined) failDuplicateUser();
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
