// The copies that a clone consists of: databases with the files of their apps, and the hook files.
import type { Change } from '../../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { type DatabaseCopy, withCopies } from '../../../storage/provision/copy.ts';
import type { Config } from '../../../supervisor/protocol.ts';
import type { Deps } from '../../deps.ts';
import { copyHookFiles } from '../../hooks/files/copies.ts';
import { logFailure } from '../../logging/events.ts';

/** The parts of the process that copies need. */
export type CloneDeps =
  & Pick<
    Deps,
    | 'blobs'
    | 'databases'
    | 'databaseSettings'
    | 'definitions'
    | 'newId'
    | 'now'
    | 'observe'
    | 'policyCache'
    | 'provisioning'
    | 'revocations'
    | 'upkeep'
  >
  & { config: Pick<Config, 'api' | 'data_dir' | 'hooks'>; hooks: Pick<Deps['hooks'], 'dropWorkspace'> };

/** Copies a workspace, or what an earlier copy of it has kept. */
export type CopyWorkspace = (
  from: Pick<WorkspaceDefinition, 'id' | 'database'> | { database: string },
) => Promise<string>;

const notifyIntervalMs = 100;

/** Runs work that makes copies. Those that it does not hand over are dropped in the background. */
export async function copyingWorkspaces<Result>(
  deps: CloneDeps,
  work: (copy: CopyWorkspace) => Promise<Result>,
): Promise<Result> {
  const { config, databases, provisioning, upkeep } = deps;
  try {
    return await withCopies(
      provisioning,
      releaser(deps),
      async (copier) =>
        await work(async (from) => {
          const copy = await copier.copy(from.database);
          await copyBlobs(deps, from.database, copy);
          const source = 'id' in from ? { workspace: from.id } : { database: from.database };
          await copyHookFiles(config, source, { database: copy.database });
          await databases.closePools(copy.database);
          return copy.database;
        }),
    );
  } catch (error) {
    upkeep.poke('soon');
    throw error;
  }
}

async function copyBlobs({ blobs }: CloneDeps, database: string, copy: DatabaseCopy): Promise<void> {
  for (const { from, to } of copy.schemas) {
    await blobs.copyAll({ database, schema: from }, { database: copy.database, schema: to });
  }
}

/** Closes connections here, and asks other processes to, now and then. */
function releaser(deps: CloneDeps): (database: string) => void {
  const { config, databases } = deps;
  let notifiedAt = -Infinity;
  return (database) => {
    databases.renew(database);
    if (config.api.workers === 1 || performance.now() < notifiedAt + notifyIntervalMs) return;
    notifiedAt = performance.now();
    const change: Change = { kind: 'release', database };
    databases.notify(change).catch(logFailure(deps, 'ask for connections to be closed'));
  };
}
