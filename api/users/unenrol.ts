// A workspace admin takes a user's second factor away, for one who has lost it.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { voidTokens } from '../../storage/workspace/one-time-tokens.ts';
import { dropTotp } from '../../storage/workspace/totp.ts';
import { lockUser } from '../../storage/workspace/user-accounts.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import { revokeAllTokens } from '../auth/tokens/end-user-tokens.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { failNoUser } from './list.ts';

/** Ends all sessions of the user. Throws `404 not_found`, also for a user without a second factor. */
export async function unenrolUser(
  deps: Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  { principal, origin, now }: Caller,
): Promise<void> {
  if (!isUuid(id)) failNoUser(id);
  const actor = await readActorName(deps, principal);
  await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const { id: userId, email } = await lockUser(sql, id) ?? failNoUser(id);
    if (!await dropTotp(sql, userId, now)) fail('not_found', `user "${id}" has no second factor`);
    await voidTokens(sql, { userId, email, now });
    const details = { id: userId };
    await auditWorkspace(sql, deps, { actor, action: 'totp_remove', target: email, details, origin });
    await revokeAllTokens(sql, deps, { userId, now });
  });
}
