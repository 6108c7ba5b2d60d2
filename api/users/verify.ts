// A workspace admin says whether a user's email is verified.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { lockUser, setVerified } from '../../storage/workspace/user-accounts.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failNoUser } from './list.ts';
import { showUser, type User } from '../auth/account/user-response.ts';

/** Returns the changed user. Throws `404 not_found`. */
export async function verifyUser(
  deps: Pick<Deps, 'databases' | 'newId' | 'now'>,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  { verified, principal, origin, now }: { verified: boolean } & Caller,
): Promise<User> {
  if (!isUuid(id)) failNoUser(id);
  const actor = await readActorName(deps, principal);
  const row = await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const before = await lockUser(sql, id) ?? failNoUser(id);
    const user = await setVerified(sql, id, { verified, now }) ?? failNoUser(id);
    const details = { id: user.id, verified, from: { verified: before.verified } };
    await auditWorkspace(sql, deps, { actor, action: 'user_verify', target: user.email, details, origin });
    return user;
  });
  return showUser(row);
}
