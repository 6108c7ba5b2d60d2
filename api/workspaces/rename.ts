// Renaming a workspace.
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { updateWorkspaceName as renameRow } from '../../storage/control/workspaces.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failNoWorkspace } from '../target.ts';

/** Returns the renamed workspace. Throws `404 workspace_not_found`. */
export async function renameWorkspace(
  deps: Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { name, caller }: { name: string; caller: Caller },
): Promise<WorkspaceDefinition> {
  const { id } = workspace;
  const renamed = await deps.databases.control.transaction(async (sql) => {
    const { workspace: renamed, from } = await renameRow(sql, workspace, { name, now: caller.now }) ??
      failNoWorkspace(id);
    const actor = await actorName(sql, caller.principal);
    await auditSystem(sql, deps, {
      actor,
      action: 'workspace_update',
      target: id,
      details: { name, from: { name: from } },
      workspace: id,
      origin: caller.origin,
    });
    await notifyChange(sql, { kind: 'workspace', workspace: id });
    return renamed;
  });
  deps.definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  return renamed;
}
