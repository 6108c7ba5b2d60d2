// The end of an app's hooks: nothing of them may be there for a later app of the same id.
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { folderOf, removeFolder } from './folder.ts';

type LeaveDeps = Pick<Deps, 'config' | 'hooks' | 'observe'>;

/** Ends the runner of an app that is gone, and removes its files. */
export async function leaveApp(deps: LeaveDeps, app: AppDefinition): Promise<void> {
  deps.hooks.drop(app);
  await trying(deps, () => removeFolder(folderOf(deps.config, app)));
}

/** The same for all apps of a workspace. */
export async function leaveWorkspace(deps: LeaveDeps, id: string): Promise<void> {
  deps.hooks.dropWorkspace(id);
  const folder = dirname(folderOf(deps.config, { id: 'any', workspace: { id } }));
  await trying(deps, () => rm(folder, { recursive: true, force: true }));
}

/** The app itself is gone already, so its caller is not told. */
async function trying({ observe }: LeaveDeps, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    observe({ type: 'background_failed', task: 'remove hook files', error: String(error) });
  }
}
