// Keeps the settings of workspaces' databases at what policies say, and renews connections that have others.
import { logFailure, type Observe } from '../logging/events.ts';
import type { Change } from '../../storage/control/changes.ts';
import { listLimitedWorkspaces, listWorkspaceDatabases } from '../../storage/control/workspaces.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import type { Sql } from '../../storage/connections/pool.ts';
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

/** Reads the limits that the statements of a workspace have by policy. Throws `StorageError`. */
export async function readDatabaseLimits(policies: Policies, workspace: string): Promise<DatabaseLimits> {
  const read = async (name: keyof DatabaseLimits) =>
    (await policies.range(`database.${name}`, { workspace })).value;
  return {
    work_mem_mb: await read('work_mem_mb'),
    temp_file_mb: await read('temp_file_mb'),
    statement_timeout_ms: await read('statement_timeout_ms'),
  };
}

/** The limits of all workspaces, in one process. */
export class DatabaseSettings {
  readonly #deps: LimitsDeps;
  /** By database, what the connections of this process have: the default limits where there is none. */
  readonly #applied = new Map<string, string>();
  #last: Promise<void> = Promise.resolve();

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
  }

  /** Follows a change of policies, whatever process has made it. */
  onChange(change: Change): void {
    if (change.kind === 'policies') this.#applyLater((sql) => listWorkspaceDatabases(sql, change.workspace));
  }

  /** Changes may have been missed. */
  resync(): void {
    this.#applyLater(listLimitedWorkspaces);
  }

  /** Sets the limits of a workspace. Throws `StorageError`. */
  async apply({ id, database }: Workspace): Promise<void> {
    const { databases, policies } = this.#deps;
    const limits = await readDatabaseLimits(policies, id);
    const wanted = JSON.stringify(limits);
    const known = this.#applied.get(database) ?? JSON.stringify(defaultDatabaseLimits);
    const isChanged = await databases.control.transaction((sql) => limitDatabase(sql, database, limits));
    if (!isChanged && known === wanted) return;
    this.#applied.set(database, wanted);
    databases.renew(database);
  }

  /** One change after another, so that the last one decides. */
  #applyLater(find: (sql: Sql) => Promise<Workspace[]>): void {
    const { databases } = this.#deps;
    this.#last = this.#last.then(async () => {
      for (const workspace of await databases.control.run(find)) await this.apply(workspace);
    }).catch(logFailure(this.#deps, 'set the limits of databases'));
  }
}
