// Renaming an app.
import { type AppRow, updateAppName as renameRow } from '../../storage/workspace/apps.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failNoApp } from '../target.ts';

/** Returns the renamed app. Throws `404 app_not_found`. */
export async function renameApp(
  deps: Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>,
  app: AppDefinition,
  { name, caller }: { name: string; caller: Caller },
): Promise<AppRow> {
  const { id, workspace } = app;
  const actor = await readActorName(deps, caller.principal);
  const renamed = await deps.databases.provisioner(workspace.database).transaction(async (sql) => {
    const { app: renamed, from } = await renameRow(sql, app, { name, now: caller.now }) ?? failNoApp(id);
    await auditWorkspace(sql, deps, {
      actor,
      action: 'app_update',
      target: id,
      details: { name, from: { name: from } },
      origin: caller.origin,
    });
    return renamed;
  });
  await deps.definitions.invalidate(workspace.id, id);
  return renamed;
}
