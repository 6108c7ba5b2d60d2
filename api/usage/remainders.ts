// The remainders of the quotas of all apps and workspaces, in one process.
import type { Databases } from '../../storage/connections/databases.ts';
import {
  type AppRunner,
  appRunner,
  type AppSize,
  countAppRecords,
  readAppSize,
} from '../../storage/control/usage.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import { RateLimiter } from './rate-limiter.ts';
import { Remainder, type Sharing } from './remainder.ts';
import { countWorkspaceBytes } from './workspace-bytes.ts';

/** The state of the quotas of one app. */
export interface AppRemainders {
  /** The definition of the last request. */
  app: AppDefinition;
  records: Remainder;
  files: Remainder;
  bytes: Remainder;
  requests: RateLimiter;
}

interface RemaindersParts {
  databases: Databases;
  sharing: Sharing;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** Above this number of apps or of workspaces, idle ones are evicted. */
const maxIdle = 1_000;

/** Makes remainders when they are first needed. */
export class Remainders {
  readonly #parts: RemaindersParts;
  /** By the app's schema, whose name is never used again. */
  readonly #apps = new Map<string, AppRemainders>();
  /** The bytes of workspaces, by their database, whose name is never used again. */
  readonly #workspaces = new Map<string, Remainder>();

  constructor(parts: RemaindersParts) {
    this.#parts = parts;
  }

  /** The remainders of an app. */
  app(app: AppDefinition): AppRemainders {
    const known = this.#apps.get(app.schema);
    if (known !== undefined) {
      known.app = app;
      return known;
    }
    if (this.#apps.size >= maxIdle) this.#evictIdleApps();
    const { sharing, now } = this.#parts;
    const size = () => this.#readSize(made.app);
    const bytes = () => size().then(({ database_bytes, file_bytes }) => database_bytes + file_bytes);
    const made: AppRemainders = {
      app,
      records: new Remainder({ ...sharing, now, leaks: false, count: () => this.#countRecords(made.app) }),
      files: new Remainder({ ...sharing, now, leaks: false, count: () => size().then(({ files }) => files) }),
      bytes: new Remainder({ ...sharing, now, leaks: true, count: bytes }),
      requests: new RateLimiter(),
    };
    this.#apps.set(app.schema, made);
    return made;
  }

  /** The remainder of the bytes of a workspace with all its apps. */
  workspaceBytes({ database }: WorkspaceDefinition): Remainder {
    const known = this.#workspaces.get(database);
    if (known !== undefined) return known;
    if (this.#workspaces.size >= maxIdle) {
      for (const [name, { isIdle }] of this.#workspaces) if (isIdle) this.#workspaces.delete(name);
    }
    const { sharing, now, databases } = this.#parts;
    const count = () => countWorkspaceBytes(databases, database);
    const made = new Remainder({ ...sharing, now, leaks: true, count });
    this.#workspaces.set(database, made);
    return made;
  }

  #evictIdleApps(): void {
    const now = this.#parts.now();
    for (const [schema, { records, files, bytes, requests }] of this.#apps) {
      if (records.isIdle && files.isIdle && bytes.isIdle && requests.isFull(now)) this.#apps.delete(schema);
    }
  }

  async #countRecords({ workspace, schema, collections }: AppDefinition): Promise<number> {
    const { records } = await countAppRecords(this.#runner({ workspace, schema }), schema, [
      ...collections.keys(),
    ]);
    return records;
  }

  async #readSize({ workspace, schema }: AppDefinition): Promise<AppSize> {
    const size = await this.#runner({ workspace, schema })((sql) => readAppSize(sql, schema));
    // None of an app that was deleted meanwhile.
    return size ?? { database_bytes: 0, files: 0, file_bytes: 0 };
  }

  /**
   * On the provisioner's connection: an import asks in the middle of its transaction, and may hold the only connection of its app
   * until it knows.
   */
  #runner({ workspace, schema }: Pick<AppDefinition, 'workspace' | 'schema'>): AppRunner {
    return appRunner(this.#parts.databases.provisioner(workspace.database), schema);
  }
}
