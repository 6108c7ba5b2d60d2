// Deleting a workspace: one control transaction ends it for everybody; the reaper drops its database afterwards.
import { publish } from '../../storage/changes.ts';
import { insertRevocations } from '../../storage/revocations.ts';
import { markDropping } from '../../storage/tenant-databases.ts';
import { removeWorkspace as removeRow } from '../../storage/workspaces.ts';
import { actorIn, type By } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { Departure } from '../hooks/source/departure.ts';
import { failNoWorkspace } from '../target.ts';

type RemoveDeps = Pick<
  Deps,
  'config' | 'hooks' | 'observe' | 'databases' | 'definitions' | 'revocations' | 'upkeep' | 'newId' | 'now'
>;

/**
 * Ends a workspace with everything in it, and every token of it, so that the id may be used again at once.
 * Throws `404 workspace_not_found`, with no side effect.
 */
export async function removeWorkspace(deps: RemoveDeps, id: string, by: By): Promise<void> {
  const { databases, definitions, revocations, upkeep } = deps;
  const departure = new Departure(deps);
  const { database, revoked } = await departure.during(() =>
    databases.control.transaction(async (sql) => {
      const actor = await actorIn(sql, by.principal);
      const workspace = await removeRow(sql, id) ?? failNoWorkspace(id);
      await markDropping(sql, workspace.database);
      const revoked = [revocations.row('workspace', id)];
      await insertRevocations(sql, revoked);
      await auditSystem(sql, deps, {
        actor,
        action: 'workspace_delete',
        target: id,
        details: { name: workspace.name },
        workspace: id,
        origin: by.origin,
      });
      await publish(sql, { kind: 'workspace', workspace: id });
      await departure.begin({ workspace: id, database: workspace.database });
      return { database: workspace.database, revoked };
    })
  );
  revocations.apply(revoked);
  definitions.forget({ kind: 'workspace', workspace: id });
  void databases.forget(database);
  deps.hooks.dropWorkspace(id);
  await departure.end();
  upkeep.poke();
}
