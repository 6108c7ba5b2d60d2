// The master removes an admin; its tokens are refused at once.
import { deleteAdmin as removeRow } from '../../storage/control/admins.ts';
import { deleteKeysBeyond } from '../../storage/control/api-keys.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { insertRevocations } from '../../storage/control/revocations.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import { revokeKeys } from '../auth/keys/remove.ts';
import type { Deps } from '../deps.ts';
import { failNoAdmin } from './find.ts';

/** Throws `404 not_found`. */
export async function removeAdmin(
  deps: Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  caller: Caller,
): Promise<void> {
  if (!isUuid(id)) failNoAdmin(id);
  const revoked = await deps.databases.control.transaction(async (sql) => {
    const admin = await removeRow(sql, workspace.id, id) ?? failNoAdmin(id);
    // Its refresh tokens need no end: the exchange looks for the admin.
    const rows = [deps.revocations.row('subject', admin.id)];
    await insertRevocations(sql, rows);
    rows.push(...await revokeKeys(sql, deps, await deleteKeysBeyond(sql, admin.id, undefined)));
    await auditSystem(sql, deps, {
      actor: await actorName(sql, caller.principal),
      action: 'admin_delete',
      target: admin.email,
      details: {
        id: admin.id,
        workspace: workspace.id,
        role: admin.role,
        from: { name: admin.name, role: admin.role, app_ids: admin.app_ids },
      },
      workspace: workspace.id,
      origin: caller.origin,
    });
    return rows;
  });
  deps.revocations.apply(revoked);
}
