// The collection that a record request works on, read again when another process has changed it meanwhile.
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { StorageError, uncomputedReason } from '../../storage/errors.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { planFor, type RecordPlan } from '../../storage/app/records/plan.ts';
import type { Deps } from '../deps.ts';
import { ApiError, fail, failValidation } from '../errors.ts';
import type { RecordHooks } from '../hooks/ports.ts';
import type { Policies } from '../policies/effective.ts';
import type { Publisher } from '../realtime/ports.ts';
import { failNoApp, requireCollection } from '../target.ts';
import type { WriteQuotas } from '../usage/quotas.ts';
import { retryDeadlocks } from '../process/deadlock.ts';

/** The parts that every record feature needs. */
export type RecordDeps =
  & Pick<Deps, 'databases' | 'definitions' | 'policies' | 'recordCache' | 'fileLinks'>
  & {
    realtime: Publisher;
  };

/** The parts that writes need. */
export type WriteDeps = RecordDeps & Pick<Deps, 'writeOrder' | 'hookOrder' | 'unheldFiles'> & {
  hooks: RecordHooks;
  quotas: WriteQuotas;
};

/** A collection and the app that it is in. */
export interface RecordTarget {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** A compiled collection and the connections of its app. */
export interface RecordScope {
  /** As it is by now, which may be another than the request found. */
  target: RecordTarget;
  plan: RecordPlan;
  connection: Connection;
  policies: Policies;
}

/**
 * Runs work on a collection. When the table turns out not to be as the definition says, reads the definition again and
 * repeats the work, three times at most. Throws `404` when the collection has been deleted.
 */
export function onCollection<Result>(
  deps: RecordDeps,
  target: RecordTarget,
  work: (scope: RecordScope) => Promise<Result>,
): Promise<Result> {
  return onApp(deps, target.app, (app) => {
    const connection = deps.databases.app(app.workspace.database, app.schema);
    const scope = recordScope(targetIn(app, target), { connection, policies: deps.policies });
    const { id, kind } = scope.target.collection;
    return kind === 'view' ? work(scope).catch((error: unknown) => failUncomputed(id, error)) : work(scope);
  });
}

/** What a view shows is computed when it is read, so it may fail for some values of its records. */
function failUncomputed(view: string, error: unknown): never {
  const reason = uncomputedReason(error);
  if (reason === undefined) throw error;
  fail('conflict', `the query of the view "${view}" fails for the present records: ${reason}`);
}

/** A collection in the app as it is by now. Throws `404 not_found` when it has been deleted. */
export function targetIn(app: AppDefinition, target: RecordTarget): RecordTarget {
  return app === target.app ? target : { app, collection: requireCollection(app, target.collection.id) };
}

/** Runs work on several collections of an app, as `onCollection` does on one. */
export async function onApp<Result>(
  deps: Pick<Deps, 'definitions'>,
  app: AppDefinition,
  work: (app: AppDefinition) => Promise<Result>,
): Promise<Result> {
  let known = app;
  for (let readings = 0;; readings++) {
    try {
      return await retryDeadlocks(() => work(known));
    } catch (error) {
      if (readings >= maxReadings(error)) throw error;
    }
    known = await reread(deps, known);
  }
}

/** The app has changed while hooks ran. */
class OutdatedApp extends ApiError {
  constructor() {
    super('conflict', 'the app kept changing while hooks looked at the write; try again');
  }
}

/**
 * Throws when the app has changed since the work began. To be called within `onApp` and `onCollection` after hooks have run,
 * which may take long: they then repeat the work, so that the rules and fields of now hold.
 */
export function requireCurrent({ definitions }: Pick<Deps, 'definitions'>, app: AppDefinition): void {
  if (definitions.peekApp(app.workspace.id, app.id) !== app) throw new OutdatedApp();
}

/** How often the definition is read again after an error. */
function maxReadings(error: unknown): number {
  if (error instanceof OutdatedApp) return 5;
  return error instanceof StorageError && error.failure === 'undefined' ? 3 : 0;
}

/** The scope of work on a collection. */
export function recordScope(
  target: RecordTarget,
  { connection, policies }: Pick<RecordScope, 'connection' | 'policies'>,
): RecordScope {
  return { target, plan: planFor(target.app.schema, target.collection), connection, policies };
}

/**
 * Ends a write with `403` when it is to `users`, whom only the auth and user routes write, and with `400` when it is to a view.
 */
export function refuseBuiltIn({ collection }: RecordTarget): void {
  if (collection.kind === 'view') {
    failValidation([{ field: '', reason: `"${collection.id}" is a view: its records are read-only` }]);
  }
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
