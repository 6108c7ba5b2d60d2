// Deleting a workspace: one control transaction ends it for everybody; the reaper drops its database afterwards.
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { insertRevocations } from '../../storage/control/revocations.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { markDropping } from '../../storage/control/tenant-databases.ts';
import { deleteWorkspace as removeRow, lockExpiredWorkspace } from '../../storage/control/workspaces.ts';
import { findTemplate } from '../../storage/control/clones/templates.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { type AuditEvent, auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import type { Hooks } from '../hooks/ports.ts';
import { HookFilesTombstone } from '../hooks/files/tombstones.ts';
import { failNoWorkspace } from '../target.ts';

/** The parts of the process that a deletion needs. */
export type RemoveDeps =
  & Pick<Deps, 'observe' | 'databases' | 'definitions' | 'revocations' | 'newId' | 'now'>
  & {
    config: Pick<Config, 'hooks' | 'data_dir'>;
    hooks: Pick<Hooks, 'dropWorkspace'>;
    upkeep: Pick<Deps['upkeep'], 'poke'>;
  };

/**
 * Ends a workspace with everything in it, and every token of it, so that the id may be used again at once.
 * Throws `404 workspace_not_found`, with no side effect, and leaves a later workspace of the id as it is.
 */
export async function removeWorkspace(
  deps: RemoveDeps,
  workspace: WorkspaceDefinition,
  caller: Caller,
): Promise<void> {
  if (!await remove(deps, workspace, caller)) failNoWorkspace(workspace.id);
}

/** The same for a workspace whose time is over. Does nothing when it was deleted or extended meanwhile. */
export async function removeExpired(deps: RemoveDeps, workspace: WorkspaceDefinition): Promise<void> {
  await remove(deps, workspace, 'expiry');
}

/** False when there is nothing to remove. */
async function remove(
  deps: RemoveDeps,
  workspace: WorkspaceDefinition,
  by: Caller | 'expiry',
): Promise<boolean> {
  const { databases, definitions, revocations, upkeep } = deps;
  const { id, database } = workspace;
  const tombstone = new HookFilesTombstone(deps);
  const revoked = await tombstone.during(() =>
    databases.control.transaction(async (sql) => {
      if (by === 'expiry' && !await lockExpiredWorkspace(sql, workspace, deps.now())) return undefined;
      const template = await findTemplate(sql, workspace);
      const removed = await removeRow(sql, workspace);
      if (removed === undefined) return undefined;
      if (template !== undefined) await markDropping(sql, template);
      await markDropping(sql, database);
      const revoked = [revocations.row('workspace', id)];
      await insertRevocations(sql, revoked);
      await auditSystem(sql, deps, await auditEvent(sql, removed, by));
      await notifyChange(sql, { kind: 'workspace', workspace: id });
      await tombstone.create({ workspace: id, database });
      return revoked;
    })
  );
  if (revoked === undefined) return false;
  revocations.apply(revoked);
  definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  void databases.closePools(database);
  deps.hooks.dropWorkspace(id);
  await tombstone.remove();
  upkeep.poke();
  return true;
}

async function auditEvent(
  sql: Sql,
  { id, name, expires_at }: WorkspaceDefinition,
  by: Caller | 'expiry',
): Promise<AuditEvent & { workspace: string }> {
  const event = { action: 'workspace_delete', target: id, workspace: id };
  if (by === 'expiry') return { ...event, actor: 'system', details: { name, expires_at } };
  return { ...event, actor: await actorName(sql, by.principal), details: { name }, origin: by.origin };
}
