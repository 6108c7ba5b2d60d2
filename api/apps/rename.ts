// Renaming an app.
import { type AppRow, renameApp as renameRow } from '../../storage/workspace/apps.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { actorOf, type By } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failNoApp } from '../target.ts';

/** Answers the renamed app. Throws `404 app_not_found`. */
export async function renameApp(
  deps: Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>,
  app: AppDefinition,
  { name, by }: { name: string; by: By },
): Promise<AppRow> {
  const { id, workspace } = app;
  const actor = await actorOf(deps, by.principal);
  const renamed = await deps.databases.provisioner(workspace.database).transaction(async (sql) => {
    const { app: renamed, from } = await renameRow(sql, app, { name, now: by.now }) ?? failNoApp(id);
    await auditWorkspace(sql, deps, {
      actor,
      action: 'app_update',
      target: id,
      details: { name, from: { name: from } },
      origin: by.origin,
    });
    return renamed;
  });
  await deps.definitions.invalidate(workspace.id, id);
  return renamed;
}
