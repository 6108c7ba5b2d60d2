// All audit logs of the installation, one after the other, for work that nobody waits for.
import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, controlChain, workspaceChain } from '../../storage/audit/chain.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { listAssigned } from '../../storage/control/tenant-databases.ts';
import type { Deps } from '../deps.ts';

/** Leaves the server time for others. */
const pauseMs = 20;
const pageSize = 200;

/** What is done to one log. */
export type LogWork = (connection: Connection, chain: Chain) => Promise<void>;

/**
 * Does it to every log until `ending` says stop, as the provisioner. A log that it fails on, such as that of a workspace
 * being deleted, does not keep the others: `onFailure` hears of it. Throws `StorageError` when workspaces cannot be listed.
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
