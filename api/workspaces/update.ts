// Renaming a workspace, and changing when it is deleted.
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { updateWorkspaceRow as updateRow } from '../../storage/control/workspaces.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failValidation, reasons } from '../errors.ts';
import { failNoWorkspace } from '../target.ts';
import { expiryAfter } from './expiry.ts';

/** The body of the request. Members that are left out stay as they are. */
export interface WorkspaceUpdate {
  name?: string | undefined;
  /** Seconds from now; null for a workspace that stays. */
  ttl_sec?: number | null | undefined;
}

/** Returns the workspace as it is now. Throws `404 workspace_not_found`, `400 validation` when nothing is to change. */
export async function updateWorkspace(
  deps: Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { name, ttl_sec, caller }: WorkspaceUpdate & { caller: Caller },
): Promise<WorkspaceDefinition> {
  const { id } = workspace;
  if (name === undefined && ttl_sec === undefined) {
    failValidation([{ field: 'name', reason: reasons.required, code: 'required' }]);
  }
  const expires_at = ttl_sec === undefined ? undefined : expiryAfter(ttl_sec, caller.now);
  const updated = await deps.databases.control.transaction(async (sql) => {
    const { workspace: updated, from } = await updateRow(sql, workspace, {
      name,
      expires_at,
      now: caller.now,
    }) ?? failNoWorkspace(id);
    const actor = await actorName(sql, caller.principal);
    await auditSystem(sql, deps, {
      actor,
      action: 'workspace_update',
      target: id,
      details: {
        ...name === undefined ? {} : { name },
        ...expires_at === undefined ? {} : { expires_at },
        from: {
          ...name === undefined ? {} : { name: from.name },
          ...expires_at === undefined ? {} : { expires_at: from.expires_at },
        },
      },
      workspace: id,
      origin: caller.origin,
    });
    await notifyChange(sql, { kind: 'workspace', workspace: id });
    return updated;
  });
  deps.definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  return updated;
}
