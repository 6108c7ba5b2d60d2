// Background work on every audit log of the installation, one after another.
import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, controlChain, workspaceChain } from '../../storage/audit/chain.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { listAssigned } from '../../storage/control/tenant-databases.ts';
import type { Deps } from '../deps.ts';

/** Between two logs, so that requests are not slowed down. */
const pauseMs = 20;
const pageSize = 200;

/** Work on one log. */
export type LogWork = (connection: Connection, chain: Chain) => Promise<void>;

/**
 * Runs the work on every log, as the provisioner, until `ending` is aborted. A failure, as of a workspace that is being
 * deleted, is passed to `onFailure`, and the other logs follow. Throws `StorageError` when workspaces cannot be listed.
 */
export async function withEveryLog(
  { databases }: Pick<Deps, 'databases'>,
  work: LogWork,
  { ending, onFailure }: { ending: AbortSignal; onFailure: (error: unknown) => void },
): Promise<void> {
  await work(databases.control, controlChain).catch(onFailure);
  for (let after: string | undefined = ''; after !== undefined;) {
    const slice = { after, limit: pageSize };
    const names: string[] = await databases.control.run((sql) => listAssigned(sql, slice));
    for (const name of names) {
      if (ending.aborted) return;
      await databases.visit(name, (connection) => work(connection, workspaceChain(name))).catch(onFailure);
      await pause(pauseMs);
    }
    after = names.at(-1);
  }
}
