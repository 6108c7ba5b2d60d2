// A hook file that was written while its app was being deleted: after the app's files were moved aside, and so into a folder
// whose files a later app of the same id would run.
import { dirname } from 'node:path';
import { isSameApp } from '../../../storage/workspace/apps.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import { isSameWorkspace } from '../../../storage/control/workspaces.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import { failNoApp, failNoWorkspace } from '../../target.ts';
import { hookFolder, readFile, removeEmpty, removeFromFolder } from './folder.ts';

/**
 * To be called after a file was written. A deletion takes the row before it moves the files: when the row is there, all
 * that is written goes with it. Throws `404` when it is not, and the file is gone again.
 */
export async function withdrawFromDeleted(
  deps: Pick<Deps, 'databases'> & { config: Pick<Config, 'hooks'> },
  app: AppDefinition,
  { filename, source }: { filename: string; source: string },
): Promise<void> {
  const { control } = deps.databases;
  const { id, workspace } = app;
  const hasWorkspace = await control.run((sql) => isSameWorkspace(sql, workspace));
  const provisioner = deps.databases.provisioner(workspace.database);
  if (hasWorkspace && await provisioner.run((sql) => isSameApp(sql, app))) return;
  const folder = hookFolder(deps.config, app);
  const file = await readFile(folder, filename);
  // Another text is that of a later app.
  if (file !== undefined && 'source' in file && file.source === source) {
    await removeFromFolder(folder, filename);
    await removeEmpty(folder);
    await removeEmpty(dirname(folder));
  }
  if (!hasWorkspace) failNoWorkspace(workspace.id);
  failNoApp(id);
}
