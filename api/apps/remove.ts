// Deleting an app: first nobody may reach it any more, then it goes with all it holds.
import { removeAppFromAdmins } from '../../storage/control/admins.ts';
import { deleteAppKeys } from '../../storage/control/api-keys.ts';
import { deleteAppPolicies, lockPolicies } from '../../storage/control/policies.ts';
import { deleteApp as removeRow, findAppRow } from '../../storage/workspace/apps.ts';
import { notifyChange } from '../../storage/control/changes.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { dropAppSchema } from '../../storage/provision/app.ts';
import { insertRevocations } from '../../storage/control/revocations.ts';
import { revokeAppSessions } from '../../storage/sessions.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import { revokeKeys } from '../auth/keys/remove.ts';
import type { Deps } from '../deps.ts';
import { removeAllBytes } from '../files/upload.ts';
import type { Hooks } from '../hooks/ports.ts';
import { HookFilesTombstone } from '../hooks/files/tombstones.ts';
import { failNoApp, lockWorkspace } from '../target.ts';

type RemoveDeps =
  & Pick<
    Deps,
    | 'observe'
    | 'databases'
    | 'blobs'
    | 'definitions'
    | 'policyCache'
    | 'revocations'
    | 'newId'
    | 'now'
  >
  & {
    config: Pick<Config, 'hooks' | 'data_dir'>;
    hooks: Pick<Hooks, 'drop'>;
  };

/**
 * Drops an app. Rights go in the control database first: should the process die in between, the app is still there and
 * may be deleted again, while no token or admin of it can meet a later app of the same id. Throws `404 app_not_found`, and
 * leaves a later app of the id as it is.
 */
export async function removeApp(deps: RemoveDeps, app: AppDefinition, caller: Caller): Promise<void> {
  const { databases, definitions, policyCache: policyCache, revocations } = deps;
  const { id, schema, workspace } = app;
  // Not within the transaction: a tenant's database that hangs must not hold up the policies of all.
  const current = await databases.workspace(workspace.database).run((sql) => findAppRow(sql, id));
  if (current?.schema !== schema) failNoApp(id);
  const { actor, revoked } = await databases.control.transaction(async (sql) => {
    await lockPolicies(sql);
    await lockWorkspace(sql, workspace);
    await removeAppFromAdmins(sql, workspace.id, id);
    await deleteAppPolicies(sql, workspace.id, id);
    await notifyChange(sql, { kind: 'policies', workspace: workspace.id });
    const rows = [revocations.row('app', `${workspace.id}/${id}`)];
    await insertRevocations(sql, rows);
    rows.push(...await revokeKeys(sql, deps, await deleteAppKeys(sql, workspace.id, id)));
    return { actor: await actorName(sql, caller.principal), revoked: rows };
  });
  revocations.apply(revoked);
  policyCache.onChange({ kind: 'policies', workspace: workspace.id });
  const tombstone = new HookFilesTombstone(deps);
  // It is read again in any case: a deletion whose connection was lost may be done.
  await tombstone.during(() =>
    databases.provisioner(workspace.database).transaction(async (sql) => {
      if (await removeRow(sql, id, schema) === undefined) failNoApp(id);
      await revokeAppSessions(sql, id, caller.now);
      await dropAppSchema(sql, schema);
      await auditWorkspace(sql, deps, {
        actor,
        action: 'app_delete',
        target: id,
        details: { name: app.name },
        origin: caller.origin,
      });
      await tombstone.create({ workspace: workspace.id, app: id, schema });
    })
  ).finally(() => definitions.invalidate(workspace.id, id));
  await databases.closePools(workspace.database, schema);
  await removeAllBytes(deps, app);
  deps.hooks.drop(app);
  await tombstone.remove();
}
