// Renaming a workspace.
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { renameWorkspace as renameRow } from '../../storage/control/workspaces.ts';
import { actorIn, type By } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failNoWorkspace } from '../target.ts';

/** Answers the renamed workspace. Throws `404 workspace_not_found`. */
export async function renameWorkspace(
  deps: Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { name, by }: { name: string; by: By },
): Promise<WorkspaceDefinition> {
  const { id } = workspace;
  const renamed = await deps.databases.control.transaction(async (sql) => {
    const { workspace: renamed, from } = await renameRow(sql, workspace, { name, now: by.now }) ??
      failNoWorkspace(id);
    const actor = await actorIn(sql, by.principal);
    await auditSystem(sql, deps, {
      actor,
      action: 'workspace_update',
      target: id,
      details: { name, from: { name: from } },
      workspace: id,
      origin: by.origin,
    });
    await notifyChange(sql, { kind: 'workspace', workspace: id });
    return renamed;
  });
  deps.definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  return renamed;
}
