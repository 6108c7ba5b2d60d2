// The collection that a record request works on, and what to do when another process has changed it meanwhile.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { planOf, type RecordPlan } from '../../storage/app/records/plan.ts';
import type { Deps } from '../deps.ts';
import { ApiError, fail } from '../errors.ts';
import type { RecordHooks } from '../hooks/ports.ts';
import type { Publisher } from '../realtime/ports.ts';
import { collectionOf, failNoApp } from '../target.ts';
import type { WriteQuotas } from '../usage/quotas.ts';
import { untilSettled } from '../process/deadlock.ts';

/** What every record feature needs. */
export type RecordDeps = Pick<Deps, 'databases' | 'definitions' | 'recordCache'> & {
  realtime: Publisher;
};

/** What those need that write. */
export type WriteDeps = RecordDeps & Pick<Deps, 'writeOrder'> & {
  hooks: RecordHooks;
  quotas: WriteQuotas;
};

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
 * again and the work is done once more, three times at most. Throws `404` when the collection is gone.
 */
export function onCollection<Result>(
  deps: RecordDeps,
  target: RecordTarget,
  work: (scope: RecordScope) => Promise<Result>,
): Promise<Result> {
  return onApp(deps, target.app, (app) => {
    const connection = deps.databases.app(app.workspace.database, app.schema);
    return work(scopeOf(targetIn(app, target), connection));
  });
}

/** A collection in the app as it is by now. Throws `404 not_found` when it has been deleted. */
export function targetIn(app: AppDefinition, target: RecordTarget): RecordTarget {
  return app === target.app ? target : { app, collection: collectionOf(app, target.collection.id) };
}

/** The same for work on several collections of an app. */
export async function onApp<Result>(
  deps: Pick<Deps, 'definitions'>,
  app: AppDefinition,
  work: (app: AppDefinition) => Promise<Result>,
): Promise<Result> {
  let known = app;
  for (let readings = 0;; readings++) {
    try {
      return await untilSettled(() => work(known));
    } catch (error) {
      if (readings >= mostReadings(error)) throw error;
    }
    known = await reread(deps, known);
  }
}

/** The app has changed while hooks were asked. */
class Outdated extends ApiError {
  constructor() {
    super('conflict', 'the app kept changing while hooks looked at the write; try again');
  }
}

/**
 * To be called within `onApp` and `onCollection` when hooks have answered, which may be long after the beginning: does the
 * work once more if the app is not what it was then, so that the rules and fields of now hold.
 */
export function requireCurrent({ definitions }: Pick<Deps, 'definitions'>, app: AppDefinition): void {
  if (definitions.peekApp(app.workspace.id, app.id) !== app) throw new Outdated();
}

/** How often the definition is read again for such an error. */
function mostReadings(error: unknown): number {
  if (error instanceof Outdated) return 5;
  return error instanceof StorageError && error.failure === 'undefined' ? 3 : 0;
}

/** What a feature needs to work on a collection. */
export function scopeOf(target: RecordTarget, connection: Connection): RecordScope {
  return { target, plan: planOf(target.app.schema, target.collection), connection };
}

/** Ends a write with `403` when it is to `users`, whom only the auth and user routes write. */
export function refuseBuiltIn({ collection }: RecordTarget): void {
  if (collection.id === usersId) {
    fail('forbidden', `"${usersId}" is built in: users are written by the auth and user routes`);
  }
}

/** The app as it is now: read again, unless that has happened since the request found it. */
async function reread(
  { definitions }: Pick<Deps, 'definitions'>,
  stale: AppDefinition,
): Promise<AppDefinition> {
  const { workspace, id } = stale;
  let app = await definitions.app(workspace.id, id);
  if (app === stale) {
    await definitions.invalidate(workspace.id, id);
    app = await definitions.app(workspace.id, id);
  }
  // Another app may have the id by now.
  if (app?.schema === stale.schema) return app;
  failNoApp(id);
}
