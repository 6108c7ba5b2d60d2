// The principal behind a token.
import { findAdmin } from '../../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import { findMaster } from '../../../storage/control/master-admins.ts';
import { findUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { type Admin, showAdmin, showMaster } from './admin-response.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../scope.ts';
import { showUser, type User } from './user-response.ts';

type MeDeps = Pick<Deps, 'databases'>;

/** Shows the admin or user behind a token. Throws `401 unauthorized` when it does not exist any more. */
export async function describeMe(
  deps: MeDeps,
  principal: Principal,
  at: WorkspaceDefinition,
): Promise<Admin | User> {
  const { role, id, workspace } = principal;
  const { control } = deps.databases;
  if (role === 'user') return showUser(await requireUser(deps, principal, at));
  if (role === 'master_admin' || workspace === undefined) {
    const master = await control.run((sql) => findMaster(sql, id));
    return master === undefined ? failNoPrincipal() : showMaster(master);
  }
  const admin = await control.run((sql) => findAdmin(sql, workspace, id));
  return admin === undefined ? failNoPrincipal() : showAdmin(admin);
}

/** Reads the end-user behind a token. Throws `401 unauthorized` when it does not exist any more. */
export async function requireUser(
  { databases }: MeDeps,
  { id }: Principal,
  { database }: WorkspaceDefinition,
): Promise<UserRow> {
  // The subject of a token of an earlier release need not be a UUID.
  const row = isUuid(id) ? await databases.workspace(database).run((sql) => findUser(sql, id)) : undefined;
  return row ?? failNoPrincipal();
}

/** Ends a request whose principal does not exist any more. */
export function failNoPrincipal(): never {
  fail('unauthorized', 'the bearer of this token is gone');
}
