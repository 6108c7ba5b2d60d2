// The one way to change an app's collections: one change at a time, table, definition and audit in one transaction.
import { changeTimeoutMs, listCollections, lockCollections } from '../../storage/app/collections.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { mayBeDone } from '../../storage/errors.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditApp } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { retryDeadlocks } from '../process/deadlock.ts';

/** What a change of collections needs. */
export type ChangeDeps = Pick<Deps, 'databases' | 'definitions' | 'newId' | 'now'>;

/** What a change may use: its transaction, and the definitions as they are under its lock. */
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

/** How long a connection may say nothing. Milliseconds. */
const idleTimeoutMs = changeTimeoutMs + 1_000;

/**
 * Runs a change under the app's lock. Requests that are under way hold locks on the same tables, so PostgreSQL may
 * choose the change as the victim of a deadlock; it is tried again. The new definitions are seen by the very next request.
 */
export async function changeCollections<Result>(
  deps: ChangeDeps,
  app: AppDefinition,
  { by, work }: { by: Caller; work: (scope: CollectionChangeScope) => Promise<Result> },
): Promise<Result> {
  const { schema, workspace } = app;
  const connection = deps.databases.appOwner(workspace.database, schema);
  const actor = await readActorName(deps, by.principal);
  const attempt = () =>
    connection.transaction(async (sql) => {
      await lockCollections(sql, schema);
      const found = await listCollections(sql, schema);
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
      // It has the lock until it is done or undone, and only then the definitions can be read.
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
