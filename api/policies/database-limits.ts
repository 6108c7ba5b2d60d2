// Keeps the settings of workspaces' databases at what policies say, and renews connections that have others.
import { logFailure, type Observe } from '../logging/events.ts';
import type { Change } from '../../storage/control/changes.ts';
import { listLimitedWorkspaces, listWorkspaceDatabases } from '../../storage/control/workspaces.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import {
  type DatabaseLimits,
  defaultDatabaseLimits,
  limitDatabase,
} from '../../storage/provision/database-limits.ts';
import type { Policies } from './effective.ts';

interface LimitsDeps {
  databases: Databases;
  policies: Policies;
  observe: Observe;
}

type Workspace = Pick<WorkspaceDefinition, 'id' | 'database'>;

/** Reads the limits that the statements of a workspace have by policy; without one, those of the system. Throws `StorageError`. */
export async function readDatabaseLimits(policies: Policies, workspace?: string): Promise<DatabaseLimits> {
  const at = workspace === undefined ? {} : { workspace };
  const read = async (name: keyof DatabaseLimits) => (await policies.range(`database.${name}`, at)).value;
  return {
    work_mem_mb: await read('work_mem_mb'),
    temp_file_mb: await read('temp_file_mb'),
    statement_timeout_ms: await read('statement_timeout_ms'),
  };
}

const defaults = JSON.stringify(defaultDatabaseLimits);

/** The limits of all workspaces, in one process. */
export class DatabaseSettings {
  readonly #deps: LimitsDeps;
  /** By database, what the connections of this process have: the default limits where there is none. */
  readonly #applied = new Map<string, string>();
  /** What the system leaves to workspaces. */
  #ofSystem = defaults;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
  }

  /** Follows a change of policies, whatever process has made it. Resolves once that is done, also if it fails, which is logged. */
  async onChange(change: Change): Promise<void> {
    if (change.kind !== 'policies') return;
    const { workspace } = change;
    await this.#applyLater(async ({ control }) => {
      if (workspace === undefined && !await this.#hasSystemChanged()) return [];
      return await control.run((sql) => listWorkspaceDatabases(sql, workspace));
    });
  }

  /** Changes may have been missed. Resolves as `onChange` does. */
  async resync(): Promise<void> {
    await this.#applyLater(async ({ control }) => {
      const list = await this.#hasSystemChanged() ? listWorkspaceDatabases : listLimitedWorkspaces;
      return await control.run((sql) => list(sql));
    });
  }

  /** Sets the limits of a workspace. Throws `StorageError`. */
  async apply({ id, database }: Workspace): Promise<void> {
    const { databases, policies } = this.#deps;
    const limits = await readDatabaseLimits(policies, id);
    const wanted = JSON.stringify(limits);
    const known = this.#applied.get(database) ?? defaults;
    const isChanged = await databases.control.transaction((sql) => limitDatabase(sql, database, limits));
    if (!isChanged && known === wanted) return;
    if (wanted === defaults) this.#applied.delete(database);
    else this.#applied.set(database, wanted);
    databases.renew(database);
  }

  /** False after a change of other policies of the system, which must not visit every workspace. */
  async #hasSystemChanged(): Promise<boolean> {
    const before = this.#ofSystem;
    this.#ofSystem = JSON.stringify(await readDatabaseLimits(this.#deps.policies));
    return this.#ofSystem !== before;
  }

  /** One change after another, so that the last one decides. */
  #applyLater(find: (databases: Databases) => Promise<Workspace[]>): Promise<void> {
    const report = logFailure(this.#deps, 'set the limits of databases');
    this.#last = this.#last.then(async () => {
      for (const workspace of await find(this.#deps.databases)) await this.apply(workspace).catch(report);
    }).catch(report);
    return this.#last;
  }
}
