// A workspace admin removes a user; its tokens are refused at once.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/ids.ts';
import { deleteUser, lockUser } from '../../storage/user-accounts.ts';
import { actorOf, type By } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import { endAccessTokens } from '../auth/end-user-tokens.ts';
import type { Deps } from '../deps.ts';
import { usersTable } from '../records/dependencies.ts';
import { failNoUser } from './list.ts';

/** Throws `404 not_found`, and `409 conflict` while a record needs the user. */
export async function removeUser(
  deps: Pick<Deps, 'databases' | 'totals' | 'revocations' | 'newId' | 'now'>,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  { principal, origin }: By,
): Promise<void> {
  if (!isUuid(id)) failNoUser(id);
  const actor = await actorOf(deps, principal);
  const { database } = workspace;
  // Its records may go with it.
  await deps.totals.during(
    [usersTable(database)],
    () =>
      deps.databases.workspace(database).transaction(async (sql) => {
        const user = await lockUser(sql, id) ?? failNoUser(id);
        // Its refresh tokens go with the row.
        await deleteUser(sql, id);
        const details = { id: user.id };
        await auditWorkspace(sql, deps, {
          actor,
          action: 'user_delete',
          target: user.email,
          details,
          origin,
        });
        await endAccessTokens(deps, user.id);
      }),
  );
}
