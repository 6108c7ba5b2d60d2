// Loading an app's hooks again after a change of them: in this process at once, in the others soon.
import { publish } from '../../../storage/changes.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import type { HookLoader, Loading } from '../ports.ts';

/** Answers what became of it here. Throws `StorageError` when the others cannot be told. */
export async function reloadEverywhere(
  { hooks, databases }: Pick<Deps, 'databases'> & { hooks: HookLoader },
  app: AppDefinition,
): Promise<Loading> {
  const { id, workspace } = app;
  const change = { kind: 'hooks', workspace: workspace.id, app: id } as const;
  // Told at once, the others load while this process does.
  const [loading] = await Promise.all([
    hooks.reload(app),
    databases.control.run((sql) => publish(sql, change)),
  ]);
  return loading;
}
