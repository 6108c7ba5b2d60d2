// Taking a clone back to what it was made from: it gets another copy of that, and the reaper drops the one that it had.
import { notifyChange } from '../../../storage/control/changes.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertRevocations, type RevocationRow } from '../../../storage/control/revocations.ts';
import { markDropping } from '../../../storage/control/tenant-databases.ts';
import { applyTemplate, findTemplate, replaceDatabase } from '../../../storage/control/clones/templates.ts';
import { findWorkspace } from '../../../storage/control/workspaces.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { handOver } from '../../../storage/provision/copy.ts';
import { actorName, type Caller } from '../../audit/actor.ts';
import { auditSystem } from '../../audit/write.ts';
import { fail } from '../../errors.ts';
import { placeHookFiles } from '../../hooks/files/copies.ts';
import { HookFilesTombstone } from '../../hooks/files/tombstones.ts';
import { failNoWorkspace } from '../../target.ts';
import { type CloneDeps, copyingWorkspaces } from './copies.ts';

/**
 * Returns the workspace as it was made. All tokens and API keys of it end; its admins stay. Throws `409 conflict` for a
 * workspace that is no clone, `404 workspace_not_found`.
 */
export async function resetWorkspace(
  deps: CloneDeps,
  workspace: WorkspaceDefinition,
  caller: Caller,
): Promise<WorkspaceDefinition> {
  const { config, databases, definitions, revocations, upkeep } = deps;
  const { id, database } = workspace;
  const template = await databases.control.run((sql) => findTemplate(sql, workspace)) ?? failNoClone(id);
  const tombstone = new HookFilesTombstone(deps);
  const { to, revoked } = await copyingWorkspaces(deps, async (copy) => {
    const to = await copy({ database: template });
    const revoked = await tombstone.during(() =>
      databases.control.transaction(async (sql) => {
        const revoked = await replace(sql, deps, { workspace, template, to, caller });
        await tombstone.create({ workspace: id, database });
        return revoked;
      })
    );
    return { to, revoked };
  });
  revocations.apply(revoked);
  definitions.invalidateLocally({ kind: 'workspace', workspace: id });
  deps.policyCache.onChange({ kind: 'policies', workspace: id });
  void databases.closePools(database);
  deps.hooks.dropWorkspace(id);
  await tombstone.remove();
  await placeHookFiles(config, { database: to, workspace: id });
  const now = await databases.control.run((sql) => findWorkspace(sql, id)) ?? failNoWorkspace(id);
  await deps.databaseSettings.apply(now);
  upkeep.refillApp(to);
  return now;
}

async function replace(
  sql: Sql,
  deps: CloneDeps,
  { workspace, template, to, caller }: {
    workspace: WorkspaceDefinition;
    template: string;
    to: string;
    caller: Caller;
  },
): Promise<RevocationRow[]> {
  const { id, database } = workspace;
  if (await findTemplate(sql, workspace) !== template) failNoWorkspace(id);
  await handOver(sql, [{ database: to, state: 'assigned' }]);
  await replaceDatabase(sql, workspace, { to, now: caller.now });
  await markDropping(sql, database);
  await applyTemplate(sql, { id, template, now: caller.now });
  const revoked = [deps.revocations.row('workspace', id)];
  await insertRevocations(sql, revoked);
  await auditSystem(sql, deps, {
    actor: await actorName(sql, caller.principal),
    action: 'workspace_reset',
    target: id,
    details: { from: workspace.source },
    workspace: id,
    origin: caller.origin,
  });
  await notifyChange(sql, { kind: 'workspace', workspace: id });
  await notifyChange(sql, { kind: 'policies', workspace: id });
  return revoked;
}

function failNoClone(id: string): never {
  fail(
    'conflict',
    `workspace "${id}" was not made from another one, so that there is nothing to take it back to`,
  );
}
