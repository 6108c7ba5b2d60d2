// Deleting a workspace: one control transaction ends it for everybody; the reaper drops its database afterwards.
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { insertRevocations } from '../../storage/control/revocations.ts';
import { markDropping } from '../../storage/control/tenant-databases.ts';
import { deleteWorkspace as removeRow } from '../../storage/control/workspaces.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import type { Hooks } from '../hooks/ports.ts';
import { HookFilesTombstone } from '../hooks/files/tombstones.ts';
import { failNoWorkspace } from '../target.ts';

type RemoveDeps = Pick<Deps, 'observe' | 'databases' | 'definitions' | 'revocations' | 'newId' | 'now'> & {
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
  const { databases, definitions, revocations, upkeep } = deps;
  const { id, database } = workspace;
  const tombstone = new HookFilesTombstone(deps);
  const revoked = await tombstone.during(() =>
    databases.control.transaction(async (sql) => {
      const actor = await actorName(sql, caller.principal);
      const { name } = await removeRow(sql, workspace) ?? failNoWorkspace(id);
      await markDropping(sql, database);
      const revoked = [revocations.row('workspace', id)];
      await insertRevocations(sql, revoked);
      await auditSystem(sql, deps, {
        actor,
        action: 'workspace_delete',
        target: id,
        details: { name },
        workspace: id,
        origin: caller.origin,
      });
      await notifyChange(sql, { kind: 'workspace', workspace: id });
      await tombstone.create({ workspace: id, database });
      return revoked;
    })
  );
  revocations.apply(revoked);
  definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  void databases.closePools(database);
  deps.hooks.dropWorkspace(id);
  await tombstone.remove();
  upkeep.poke();
}
