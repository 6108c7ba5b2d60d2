// The principal behind a token.
import { findKey } from '../../../storage/control/api-keys.ts';
import { findAdmin } from '../../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import { findMaster } from '../../../storage/control/master-admins.ts';
import { findUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { type Admin, showAdmin, showMaster } from './admin-response.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../scope.ts';
import { type ApiKey, showKey } from '../keys/key-response.ts';
import { showUser, type User } from './user-response.ts';

type MeDeps = Pick<Deps, 'databases'>;

/** Shows the admin, user or API key behind a token. Throws `401 unauthorized` when it does not exist any more. */
export async function describeMe(
  deps: MeDeps,
  principal: Principal,
  at: WorkspaceDefinition,
): Promise<Admin | User | ApiKey> {
  const { role, id, workspace } = principal;
  const { control } = deps.databases;
  if (principal.key !== undefined) return await ownKey(deps, principal);
  if (role === 'user') return showUser(await requireUser(deps, principal, at));
  if (role === 'master_admin' || workspace === undefined) {
    const master = await control.run((sql) => findMaster(sql, id));
    return master === undefined ? failNoPrincipal() : showMaster(master);
  }
  const admin = await control.run((sql) => findAdmin(sql, workspace, id));
  return admin === undefined ? failNoPrincipal() : showAdmin(admin);
}

async function ownKey({ databases }: MeDeps, { id, workspace, apps }: Principal): Promise<ApiKey> {
  const place = { workspace: workspace ?? null, app: apps?.[0] ?? null };
  return showKey(await databases.control.run((sql) => findKey(sql, place, id)) ?? failNoPrincipal());
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
