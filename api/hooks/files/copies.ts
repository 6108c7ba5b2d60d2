// Copies of the hook files of whole workspaces, with their static files: of clones, and of what clones were made from.
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unlessMissing } from '../../../storage/sql/error-code.ts';
import { findWorkspaceId } from '../../../storage/control/workspaces.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { hookFolder } from './folder.ts';

type CopyConfig = Pick<Config, 'hooks'>;

/** Begins with a dot, which neither ids do nor what is watched. */
const copiesFolder = '.copies';

/** The folder of the copy that belongs to a database. */
function copyFolder({ hooks }: CopyConfig, database: string): string {
  return join(hooks.dir, copiesFolder, database);
}

function workspaceFolder(config: CopyConfig, workspace: string): string {
  return dirname(hookFolder(config, { id: 'any', workspace: { id: workspace } }));
}

/** Copies what a workspace has, or an earlier copy. Links are left out: they are never followed. */
export async function copyHookFiles(
  config: CopyConfig,
  from: { workspace: string } | { database: string },
  to: { database: string },
): Promise<void> {
  const source = 'workspace' in from
    ? workspaceFolder(config, from.workspace)
    : copyFolder(config, from.database);
  const target = copyFolder(config, to.database);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await unlessMissing(cp(source, target, { recursive: true, verbatimSymlinks: true, filter: isNoDraft }));
}

/** Files being written have names that begin with a dot. */
function isNoDraft(path: string): boolean {
  return !/\/\.[^/]*\.tmp$/.test(path);
}

/** Makes a copy the files of a workspace. Files that are there already stay: they were put there for it. */
export async function placeHookFiles(
  config: CopyConfig,
  { database, workspace }: { database: string; workspace: string },
): Promise<void> {
  const source = copyFolder(config, database);
  const target = workspaceFolder(config, workspace);
  const isTaken = (await unlessMissing(readdir(target)) ?? []).length > 0;
  if (!isTaken) await unlessMissing(rename(source, target));
  await removeHookCopy(config, database);
}

/** Makes what follows the end of a database: a line in the log, and the end of the hook files that belong to it. */
export function removeReaped(
  deps: Pick<Deps, 'observe'> & { config: CopyConfig },
): (database: string) => void {
  return (database) => {
    deps.observe({ type: 'workspace_reaped', database });
    removeHookCopy(deps.config, database).catch(logFailure(deps, 'remove copies of hook files'));
  };
}

async function removeHookCopy(config: CopyConfig, database: string): Promise<void> {
  await rm(copyFolder(config, database), { recursive: true, force: true });
}

/** Puts in place what a process that died has left. To be called before requests are let in. */
export async function settleHookCopies(
  deps: Pick<Deps, 'databases' | 'observe'> & { config: CopyConfig },
): Promise<void> {
  const { config, databases } = deps;
  const settle = async () => {
    for (const database of await unlessMissing(readdir(join(config.hooks.dir, copiesFolder))) ?? []) {
      const workspace = await databases.control.run((sql) => findWorkspaceId(sql, database));
      if (workspace !== undefined) await placeHookFiles(config, { database, workspace });
    }
  };
  await settle().catch(logFailure(deps, 'put copies of hook files in place'));
}
