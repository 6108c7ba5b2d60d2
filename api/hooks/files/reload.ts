// Loading an app's hooks after a change of them: in this process at once, in the others soon.
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import type { HookLoader, LoadResult } from '../ports.ts';
import { type FolderOwner, hookFolder, listFolder } from './folder.ts';

/** Returns the outcome in this process. Throws `StorageError` when the others cannot be told. */
export async function reloadInAllProcesses(
  { hooks, databases }: Pick<Deps, 'databases'> & { hooks: HookLoader },
  app: AppDefinition,
): Promise<LoadResult> {
  const { id, workspace } = app;
  const change = { kind: 'hooks', workspace: workspace.id, app: id } as const;
  // Told at once, the others load while this process does.
  const [loading] = await Promise.all([
    hooks.reload(app),
    databases.notify(change),
  ]);
  return loading;
}

/**
 * Has files loaded that lay there before their app: what they schedule runs though nobody asks for the app.
 */
export async function loadEarlyFiles(
  { config, databases }: Pick<Deps, 'databases'> & { config: Pick<Config, 'hooks'> },
  owner: FolderOwner,
): Promise<void> {
  if ((await listFolder(hookFolder(config, owner))).length === 0) return;
  await databases.notify({ kind: 'hooks', workspace: owner.workspace.id, app: owner.id });
}
