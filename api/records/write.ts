// The one way to write records: what has to happen around every write, in the order in which it happens.
//
// A write takes its turn among the writes of the same records, is tracked so that no cached value outlives it, counts against
// the quotas of its app, and is announced as soon as it is committed. It is done again when a deadlock ended it, or when the
// definition of a collection turns out to have changed.
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import { deleteTogether, emptyRelation } from '../../storage/app/records/related-records.ts';
import { deleteRecord, insertRecord, updateFields } from '../../storage/app/records/records.ts';
import { updateVersion } from '../../storage/app/records/versions.ts';
import { announce, type Announcement, deletedRecords, type WrittenRecord } from './announce.ts';
import { onApp, requireCurrent, type WriteDeps } from './collection.ts';
import type { IntendedChange } from './ports.ts';
import type { RecordStatements, WriteContext } from './write-context.ts';

/** A write as far as it is known before it begins. */
export interface IntendedWrite {
  changes: readonly IntendedChange[];
  /** The values to store, counted against the quotas of the app; left out by a write that adds nothing. */
  input?: unknown;
  /**
   * When hooks run: `before` the write, so that the app may have changed since, or `within` it, which may take seconds and
   * write the same records: such a write takes its turn when it is announced.
   */
  hooks?: 'before' | 'within' | undefined;
}

/** The result of a write that is committed, and the records that it wrote in its app. */
export interface Committed<Result> {
  result: Result;
  written: readonly WrittenRecord[];
}

/** The records that a write in several apps wrote in one of them. */
export interface AppAnnouncement extends Announcement {
  app: AppDefinition;
}

/** The result of a write in several apps that is committed, and the records that it wrote. */
export interface CommittedInApps<Result> {
  result: Result;
  announcements: readonly AppAnnouncement[];
}

const statements: RecordStatements = {
  insert: insertRecord,
  update: updateFields,
  updateVersion,
  delete: deleteRecord,
  deleteTogether,
  emptyRelation,
};

/**
 * Writes records of an app. Throws what the work throws, `403` or `413` `quota_exceeded`, `404` for an app or a collection
 * that has been deleted, `409 conflict` for an app that keeps changing, `503 unavailable` for repeated deadlocks.
 */
export async function commitWrite<Result>(
  deps: WriteDeps,
  app: AppDefinition,
  write: IntendedWrite,
  work: (context: WriteContext) => Promise<Committed<Result>>,
): Promise<Result> {
  return await onApp(deps, app, (app) => commitOnce(deps, app, write, work));
}

/** Writes records as `commitWrite` does, for callers that are within `onApp` already. */
export async function commitOnce<Result>(
  deps: WriteDeps,
  app: AppDefinition,
  { changes, input, hooks }: IntendedWrite,
  work: (context: WriteContext) => Promise<Committed<Result>>,
): Promise<Result> {
  const connection = deps.databases.app(app.workspace.database, app.schema);
  const commit = () => {
    if (hooks === 'before') requireCurrent(deps, app);
    const write = () => work({ app, connection, policies: deps.policies, statements });
    return input === undefined
      ? write()
      : deps.quotas.write(app, { records: creates(changes), input }, write);
  };
  const keys = hooks === 'within' ? [] : keysOf(app, changes);
  return await deps.writeOrder.run(keys, async () => {
    const { result, written } = await deps.recordCache.track(app, changes, commit);
    await announceInOrder(deps, app, { written, held: keys });
    await deps.unheldFiles.remove(app, deletedRecords(written));
    return result;
  });
}

/**
 * Writes what the deletion of a user changes in the apps of its workspace. Throws what the work throws, which tries again by
 * itself.
 */
export async function commitUserDeletion<Result>(
  deps: Pick<WriteDeps, 'recordCache' | 'writeOrder' | 'unheldFiles' | 'realtime'>,
  { database }: WorkspaceDefinition,
  work: (statements: RecordStatements) => Promise<CommittedInApps<Result>>,
): Promise<Result> {
  const { result, announcements } = await deps.recordCache.trackUserDeletion(
    database,
    () => work(statements),
  );
  for (const { app, ...announcement } of announcements) {
    await announceInOrder(deps, app, { ...announcement, held: [] });
    await deps.unheldFiles.remove(app, deletedRecords(announcement.written));
  }
  return result;
}

/**
 * Announces a write. Records that were deleted along with others take their turn only now: writes of them that are under way
 * were done before, or will find nothing.
 */
async function announceInOrder(
  deps: Pick<WriteDeps, 'writeOrder' | 'realtime'>,
  app: AppDefinition,
  { held, ...announcement }: Announcement & { held: readonly string[] },
): Promise<void> {
  const keys = new Set(deletedRecords(announcement.written).map(({ id }) => keyOf(app, id)));
  await deps.writeOrder.run([...keys.difference(new Set(held))], () => {
    announce(deps, app, announcement);
    return Promise.resolve();
  });
}

/** Keys of the records whose ids are known before they are written. */
function keysOf(app: AppDefinition, changes: readonly IntendedChange[]): string[] {
  return changes.flatMap((change) =>
    change.action === 'delete_file' || change.id === undefined ? [] : [keyOf(app, change.id)]
  );
}

/** The key of a record in the order of writes; an id that is no id is the key of no record. */
function keyOf({ schema }: AppDefinition, id: string): string {
  return `${schema} ${id.toLowerCase()}`;
}

function creates(changes: readonly IntendedChange[]): number {
  return changes.filter(({ action }) => action === 'create').length;
}
