// Runs changes of an app's collections: one at a time, with table, definition and audit entry in one transaction.
import {
  changeTimeoutMs,
  keepFromBuilding,
  lockCollections,
  selectCollections,
} from '../../storage/app/collections.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import { mayBeDone } from '../../storage/errors.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditApp } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { retryDeadlocks } from '../process/deadlock.ts';

/** The dependencies of a change of collections. */
export type ChangeDeps = Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>;

/** The transaction of a change, and the definitions under its lock. */
export interface CollectionChangeScope {
  sql: Sql;
  schema: string;
  collections: ReadonlyMap<string, CollectionDefinition>;
  audit(
    action: `collection_${string}` | `rule_${string}`,
    target: string,
    details: Record<string, unknown>,
  ): Promise<void>;
}

/** A change of collections. */
export interface DefinitionChange<Result> {
  by: Caller;
  work: (scope: CollectionChangeScope) => Promise<Result>;
  /** False for a change that alters no table, and so need not wait until an index is built. */
  ofTables?: boolean;
  /** The connection of the session that builds indexes for this change. */
  connection?: Connection;
}

/** Altering a table would wait for the end of the build, and whoever writes records would wait for both. */
function failBuilding(): never {
  fail('unavailable', 'another change of the app builds an index; try again', [['Retry-After', '5']]);
}

/** The time after which a connection without a response counts as lost, in milliseconds. */
const idleTimeoutMs = changeTimeoutMs + 1_000;

/**
 * Runs a change under the app's lock. Running requests hold locks on the same tables, so PostgreSQL may choose the change
 * as the victim of a deadlock; it is then tried again. The very next request sees the new definitions.
 */
export async function changeCollections<Result>(
  deps: ChangeDeps,
  app: AppDefinition,
  { by, work, ofTables = true, connection: given }: DefinitionChange<Result>,
): Promise<Result> {
  const { schema, workspace } = app;
  const connection = given ?? deps.databases.appOwner(workspace.database, schema);
  const actor = await readActorName(deps, by.principal);
  const attempt = () =>
    connection.transaction(async (sql) => {
      await lockCollections(sql, schema);
      if (ofTables && !await keepFromBuilding(sql, schema)) failBuilding();
      const found = await selectCollections(sql, schema);
      return await work({
        sql,
        schema,
        collections: new Map(found.map((collection) => [collection.id, collection])),
        audit: (action, target, details) =>
          auditApp(sql, deps, { actor, action, target, details, origin: by.origin }),
      });
    }, idleTimeoutMs);
  let result: Result;
  try {
    result = await retryDeadlocks(attempt);
  } catch (error) {
    if (mayBeDone(error)) {
      // The transaction holds the lock until it has ended. Only then can the definitions be read.
      await Promise.allSettled([
        connection.transaction((sql) => lockCollections(sql, schema), idleTimeoutMs),
      ]);
      await deps.definitions.invalidate(workspace.id, app.id);
    }
    throw error;
  }
  await deps.definitions.invalidate(workspace.id, app.id);
  return result;
}
