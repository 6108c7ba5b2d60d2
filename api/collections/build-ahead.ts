// Changes of large collections: what they need is made first, while records are written, and the change when that is whole.
import {
  buildAhead,
  type Builds,
  buildsAhead,
  dropBuilt,
  isLarge,
  type PlannedTableChange,
} from '../../storage/app/alter/build-ahead.ts';
import { lockBuilds, selectCollections } from '../../storage/app/collections.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { mayBeDone, StorageError } from '../../storage/errors.ts';
import { ApiError } from '../errors.ts';
import { retryDeadlocks } from '../process/deadlock.ts';
import type { ChangeDeps } from './change.ts';

const maxCommits = 5;

/** What was made for a change, and the connection of the session that keeps others from changing tables. */
export interface BuiltAhead {
  connection: Connection;
  names: ReadonlySet<string>;
}

/** A change of one collection. */
export interface BuildingChange<Result> {
  id: string;
  /** The definition that the change leads to. Throws what the change would throw. */
  intend: (
    sql: Sql,
    before: CollectionDefinition,
    collections: ReadonlyMap<string, CollectionDefinition>,
  ) => Promise<PlannedTableChange>;
  /** Makes the change, with what was made for it. */
  commit: (built?: BuiltAhead) => Promise<Result>;
}

/**
 * Makes what the change needs, where that takes long, and then the change. If it fails, nothing is left of that. Throws what
 * the change throws, and `StorageError`: `conflict` for records that keep an index from being unique, `unavailable` while the
 * process builds for another app.
 */
export async function withBuildsAhead<Result>(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, intend, commit }: BuildingChange<Result>,
): Promise<Result> {
  const { schema, workspace: { database } } = app;
  const table = { schema, collection: id };
  const buildsFor = async (
    sql: Sql,
    collections: ReadonlyMap<string, CollectionDefinition>,
  ): Promise<Builds> => {
    const before = collections.get(id);
    return before === undefined ? new Map() : buildsAhead(table, await intend(sql, before, collections));
  };
  const owner = deps.databases.appOwner(database, schema);
  // The known definitions may be stale: what is wrong with the change is decided when it is made.
  const mayBuild = await owner.run(async (sql) =>
    await isLarge(sql, table) &&
    await unlessRefused(async () => (await buildsFor(sql, app.collections)).size > 0)
  );
  if (!mayBuild) return await commit();
  return await deps.databases.build({ database, schema }, async (connection) => {
    await lockBuilds(connection, schema);
    // Others may have changed the app until then.
    const builds = await connection.run(async (sql) => {
      const found = await selectCollections(sql, schema);
      return await buildsFor(sql, new Map(found.map((collection) => [collection.id, collection])));
    });
    await buildAhead(connection, builds, retryDeadlocks);
    try {
      return await withRetries(() => commit({ connection, names: new Set(builds.keys()) }));
    } catch (error) {
      // The change may have been made: then all is the collection's own.
      if (!mayBeDone(error)) await dropBuilt(connection, builds);
      throw error;
    }
  });
}

async function unlessRefused(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Others may hold a lock on the table for longer than a change waits for it. What was made has taken longer. */
async function withRetries<Result>(commit: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await commit();
    } catch (error) {
      const isLate = error instanceof StorageError && error.failure === 'timeout';
      if (!isLate || tries === maxCommits) throw error;
    }
  }
}
