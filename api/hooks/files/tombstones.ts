// Hook files of what is being deleted: moved aside before the deletion counts, so that whenever the process dies they are
// either still those of their app or nobody's. A later app of the same id would run them otherwise.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSameApp } from '../../../storage/workspace/apps.ts';
import { unlessMissing } from '../../../storage/sql/error-code.ts';
import { syncFolder } from '../../../storage/blobs/sync-folder.ts';
import { findWorkspace, isSameWorkspace } from '../../../storage/control/workspaces.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { folderOf, removeEmpty } from './folder.ts';

type DepartureDeps = Pick<Deps, 'databases' | 'observe'> & { config: Pick<Config, 'hooks'> };

/** Whose files, by names that are never used again: the schema of an app, the database of a workspace. */
export type Leaver = { workspace: string; app: string; schema: string } | {
  workspace: string;
  database: string;
};

/** Begins with a dot, which neither ids do nor what is watched. */
const asideFolder = '.leaving';

/** The files of one app or workspace on their way out. */
export class Departure {
  readonly #deps: DepartureDeps;
  #leaver: Leaver | undefined;
  #isAside = false;

  constructor(deps: DepartureDeps) {
    this.#deps = deps;
  }

  /** Runs what deletes, which calls `begin` when nothing but its commit is left to do. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const leaver = this.#leaver;
      if (leaver !== undefined) await trying(this.#deps, () => settle(this.#deps, leaver));
      throw error;
    }
  }

  /** Moves the files aside. What the disk refuses does not keep anything from being deleted. */
  async begin(leaver: Leaver): Promise<void> {
    this.#leaver = leaver;
    await trying(this.#deps, async () => {
      const { folder, aside } = placesOf(this.#deps, leaver);
      await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
      await unlessMissing(rename(folder, aside));
      this.#isAside = true;
      // So that a machine that loses power has not forgotten the move while the database remembers the deletion.
      await syncFolder(dirname(aside));
    });
  }

  /** Removes the files: the deletion is done. */
  async end(): Promise<void> {
    const leaver = this.#leaver;
    if (leaver === undefined) return;
    const { folder, aside } = placesOf(this.#deps, leaver);
    await trying(this.#deps, async () => {
      await rm(this.#isAside ? aside : folder, { recursive: true, force: true });
      if ('app' in leaver) await removeEmpty(dirname(folder));
    });
  }
}

/** Brings back or removes what a process that died has moved aside and left there. To be called before requests are let in. */
export async function settleDepartures(deps: DepartureDeps): Promise<void> {
  await trying(deps, async () => {
    const names = await unlessMissing(readdir(join(deps.config.hooks.dir, asideFolder))) ?? [];
    const leavers = names.map(leaverOf).filter((leaver) => leaver !== undefined);
    // An app's folder goes into its workspace's, which may be aside itself.
    leavers.sort((a, b) => Number('app' in a) - Number('app' in b));
    for (const leaver of leavers) await trying(deps, () => settle(deps, leaver));
  });
}

async function settle(deps: DepartureDeps, leaver: Leaver): Promise<void> {
  const { folder, aside } = placesOf(deps, leaver);
  if (!await isThere(deps, leaver)) return await rm(aside, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await unlessMissing(rename(aside, folder));
}

/**
 * As the database has it: a deletion that failed may have come through all the same. One that another process is about to
 * commit holds the row, and is waited for.
 */
async function isThere({ databases }: DepartureDeps, leaver: Leaver): Promise<boolean> {
  if ('database' in leaver) {
    const { workspace: id, database } = leaver;
    return await databases.control.run((sql) => isSameWorkspace(sql, { id, database }));
  }
  const workspace = await databases.control.run((sql) => findWorkspace(sql, leaver.workspace));
  if (workspace === undefined) return false;
  const { app: id, schema } = leaver;
  return await databases.provisioner(workspace.database).run((sql) => isSameApp(sql, { id, schema }));
}

function placesOf({ config }: DepartureDeps, leaver: Leaver): { folder: string; aside: string } {
  const { workspace } = leaver;
  const folder = folderOf(config, { id: 'app' in leaver ? leaver.app : 'any', workspace: { id: workspace } });
  // No id has a dot.
  const name = 'app' in leaver ? [workspace, leaver.app, leaver.schema] : [workspace, leaver.database];
  return {
    folder: 'app' in leaver ? folder : dirname(folder),
    aside: join(config.hooks.dir, asideFolder, name.join('.')),
  };
}

function leaverOf(name: string): Leaver | undefined {
  const [workspace, second, third, ...more] = name.split('.');
  if (workspace === undefined || second === undefined || more.length > 0) return undefined;
  return third === undefined ? { workspace, database: second } : { workspace, app: second, schema: third };
}

/** What becomes of files is no reason to refuse, or to take back, what was asked for. */
async function trying(deps: DepartureDeps, work: () => Promise<unknown>): Promise<void> {
  await work().catch(logFailure(deps, 'remove hook files'));
}
