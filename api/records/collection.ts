// The collection that a record request works on, and what to do when another process has changed it meanwhile.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Connection } from '../../storage/pool.ts';
import { planOf, type RecordPlan } from '../../storage/record-plan.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** What every record feature needs. */
export type RecordDeps = Pick<Deps, 'databases' | 'definitions' | 'totals'>;

/** A collection and the app that it is in. */
export interface RecordTarget {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** What a record feature works with: the compiled collection and the app's connections. */
export interface RecordScope {
  /** As it is by now: not always what the request found. */
  target: RecordTarget;
  plan: RecordPlan;
  connection: Connection;
}

/**
 * Runs work on a collection. When its table turns out to be another than the definition says, the definition is read
 * again and the work is done once more. Throws `404` when the collection is gone.
 */
export async function onCollection<Result>(
  deps: RecordDeps,
  target: RecordTarget,
  work: (scope: RecordScope) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(scopeOf(deps, target));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    // A record and a change of the collection waited for each other, and PostgreSQL gave up on the record.
    if (error.failure === 'serialization') return await work(scopeOf(deps, target));
    if (error.failure !== 'undefined') throw error;
    return await work(scopeOf(deps, await reread(deps, target)));
  }
}

function scopeOf({ databases }: RecordDeps, target: RecordTarget): RecordScope {
  const { app, collection } = target;
  return {
    target,
    plan: planOf(app.schema, collection),
    connection: databases.app(app.workspace.database, app.schema),
  };
}

/** The collection as it is now: read again, unless that has happened since the request found it. */
async function reread({ definitions }: RecordDeps, target: RecordTarget): Promise<RecordTarget> {
  const { workspace, id } = target.app;
  let app = await definitions.app(workspace.id, id);
  if (app === target.app) {
    await definitions.invalidate(workspace.id, id);
    app = await definitions.app(workspace.id, id);
  }
  if (app === undefined) fail('app_not_found', `app "${id}" does not exist`);
  const collection = app.collections.get(target.collection.id) ??
    fail('not_found', `collection "${target.collection.id}" does not exist`);
  return { app, collection };
}
