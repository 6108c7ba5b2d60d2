// Hook files of what is being deleted: moved aside before the deletion counts, so that whenever the process dies they are
// either still those of their app or nobody's. A later app of the same id would run them otherwise. In a folder of the
// operator's own they stay: they may be the only copy.
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSameApp } from '../../../storage/workspace/apps.ts';
import { unlessMissing } from '../../../storage/sql/error-code.ts';
import { syncFolder } from '../../../storage/blobs/sync-folder.ts';
import { findWorkspace, isSameWorkspace } from '../../../storage/control/workspaces.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import { logFailure } from '../../logging/events.ts';
import { hookFolder, removeEmpty } from './folder.ts';

type TombstoneDeps = Pick<Deps, 'databases' | 'observe'> & { config: Pick<Config, 'hooks' | 'data_dir'> };

/** Whose files, by names that are never used again: the schema of an app, the database of a workspace. */
export type DeletedOwner = { workspace: string; app: string; schema: string } | {
  workspace: string;
  database: string;
};

/** Begins with a dot, which neither ids do nor what is watched. */
const tombstonesFolder = '.leaving';

/** The files of one app or workspace on their way out. */
export class HookFilesTombstone {
  readonly #deps: TombstoneDeps;
  #owner: DeletedOwner | undefined;
  #isMoved = false;

  constructor(deps: TombstoneDeps) {
    this.#deps = deps;
  }

  /** Runs what deletes, which calls `begin` when nothing but its commit is left to do. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const owner = this.#owner;
      if (owner !== undefined) await attempt(this.#deps, () => settle(this.#deps, owner));
      throw error;
    }
  }

  /** Moves the files aside. What the disk refuses does not keep anything from being deleted. */
  async create(owner: DeletedOwner): Promise<void> {
    this.#owner = owner;
    if (!isServersFolder(this.#deps)) return;
    await attempt(this.#deps, async () => {
      const { folder, aside } = tombstonePaths(this.#deps, owner);
      await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
      await unlessMissing(rename(folder, aside));
      this.#isMoved = true;
      // So that a machine that loses power has not forgotten the move while the database remembers the deletion.
      await syncFolder(dirname(aside));
    });
  }

  /** Removes the files, or says where they stay: the deletion is done. */
  async remove(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined) return;
    const { folder, aside } = tombstonePaths(this.#deps, owner);
    await attempt(this.#deps, async () => {
      if (!isServersFolder(this.#deps)) {
        const isThere = await unlessMissing(access(folder).then(() => true)) ?? false;
        if (isThere) this.#deps.observe({ type: 'hook_files_kept', folder });
        return;
      }
      await rm(this.#isMoved ? aside : folder, { recursive: true, force: true });
      if ('app' in owner) await removeEmpty(dirname(folder));
    });
  }
}

/** True where the files are the server's: in a `hooks.dir` of the operator's own, nothing is moved or removed. */
function isServersFolder({ config: { hooks, data_dir } }: TombstoneDeps): boolean {
  return hooks.dir === join(data_dir, 'hooks');
}

/** Brings back or removes what a process that died has moved aside and left there. To be called before requests are let in. */
export async function settleTombstones(deps: TombstoneDeps): Promise<void> {
  await attempt(deps, async () => {
    const names = await unlessMissing(readdir(join(deps.config.hooks.dir, tombstonesFolder))) ?? [];
    const owners = names.map(parseTombstoneName).filter((owner) => owner !== undefined);
    // An app's folder goes into its workspace's, which may be aside itself.
    owners.sort((a, b) => Number('app' in a) - Number('app' in b));
    for (const owner of owners) await attempt(deps, () => settle(deps, owner));
  });
}

async function settle(deps: TombstoneDeps, owner: DeletedOwner): Promise<void> {
  const { folder, aside } = tombstonePaths(deps, owner);
  if (!await exists(deps, owner)) return await rm(aside, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await unlessMissing(rename(aside, folder));
}

/**
 * As the database has it: a deletion that failed may have come through all the same. One that another process is about to
 * commit holds the row, and is waited for.
 */
async function exists({ databases }: TombstoneDeps, owner: DeletedOwner): Promise<boolean> {
  if ('database' in owner) {
    const { workspace: id, database } = owner;
    return await databases.control.run((sql) => isSameWorkspace(sql, { id, database }));
  }
  const workspace = await databases.control.run((sql) => findWorkspace(sql, owner.workspace));
  if (workspace === undefined) return false;
  const { app: id, schema } = owner;
  return await databases.provisioner(workspace.database).run((sql) => isSameApp(sql, { id, schema }));
}

function tombstonePaths({ config }: TombstoneDeps, owner: DeletedOwner): { folder: string; aside: string } {
  const { workspace } = owner;
  const folder = hookFolder(config, { id: 'app' in owner ? owner.app : 'any', workspace: { id: workspace } });
  // No id has a dot.
  const name = 'app' in owner ? [workspace, owner.app, owner.schema] : [workspace, owner.database];
  return {
    folder: 'app' in owner ? folder : dirname(folder),
    aside: join(config.hooks.dir, tombstonesFolder, name.join('.')),
  };
}

function parseTombstoneName(name: string): DeletedOwner | undefined {
  const [workspace, second, third, ...more] = name.split('.');
  if (workspace === undefined || second === undefined || more.length > 0) return undefined;
  return third === undefined ? { workspace, database: second } : { workspace, app: second, schema: third };
}

/** A failure with files neither refuses nor takes back a deletion. */
async function attempt(deps: TombstoneDeps, work: () => Promise<unknown>): Promise<void> {
  await work().catch(logFailure(deps, 'remove hook files'));
}
