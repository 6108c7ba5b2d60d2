// Changes that add indexes to large collections: these are built first, while records are written, and the change is made
// when they are whole.
import {
  buildConcurrently,
  dropBuilt,
  indexBuilds,
  isLarge,
} from '../../storage/app/alter/concurrent-indexes.ts';
import { lockBuilds, selectCollections } from '../../storage/app/collections.ts';
import type { TableDefinition } from '../../storage/app/alter/attachments.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { mayBeDone, StorageError } from '../../storage/errors.ts';
import { ApiError } from '../errors.ts';
import type { ChangeDeps } from './change.ts';

const maxCommits = 5;

/** Indexes that were built for a change, and the connection of the session that keeps others from changing tables. */
export interface BuiltIndexes {
  connection: Connection;
  names: ReadonlySet<string>;
}

/** A change of one collection. */
export interface BuildingChange<Result> {
  id: string;
  /** The definition that the change leads to. Throws what the change would throw. */
  after: (
    before: CollectionDefinition,
    collections: ReadonlyMap<string, CollectionDefinition>,
  ) => TableDefinition;
  /** Makes the change, with the indexes that were built for it. */
  commit: (built?: BuiltIndexes) => Promise<Result>;
}

/**
 * Builds what the change needs, where that takes long, and makes the change. If it fails, no index is left. Throws what the
 * change throws, and `StorageError`: `conflict` for records that keep an index from being unique, `unavailable` while the
 * process builds indexes of another app.
 */
export async function withIndexesBuilt<Result>(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, after, commit }: BuildingChange<Result>,
): Promise<Result> {
  const { schema, workspace: { database } } = app;
  const table = { schema, collection: id };
  const buildsFor = (collections: ReadonlyMap<string, CollectionDefinition>) => {
    const before = collections.get(id);
    return before === undefined
      ? new Map<string, string>()
      : indexBuilds(table, { before, after: after(before, collections) });
  };
  const owner = deps.databases.appOwner(database, schema);
  // The known definitions may be stale: what is wrong with the change is decided when it is made.
  const mayBuild = unlessRefused(() => buildsFor(app.collections).size > 0);
  if (!mayBuild || !await owner.run((sql) => isLarge(sql, table))) return await commit();
  return await deps.databases.build({ database, schema }, async (connection) => {
    await lockBuilds(connection, schema);
    // Others may have changed the app until then.
    const found = await connection.run((sql) => selectCollections(sql, schema));
    const builds = buildsFor(new Map(found.map((collection) => [collection.id, collection])));
    await buildConcurrently(connection, table, builds);
    try {
      return await withRetries(() => commit({ connection, names: new Set(builds.keys()) }));
    } catch (error) {
      // The change may have been made: then they are the collection's own.
      if (!mayBeDone(error)) await dropBuilt(connection, table, builds);
      throw error;
    }
  });
}

function unlessRefused(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Others may hold a lock on the table for longer than a change waits for it. The indexes have taken longer. */
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
