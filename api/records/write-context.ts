// The context of a write: its app, and the statements that it may use.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import type { deleteRecord, insertRecord, updateFields } from '../../storage/app/records/records.ts';
import type { deleteTogether, emptyRelation } from '../../storage/app/records/related-records.ts';
import type { updateVersion } from '../../storage/app/records/versions.ts';
import type { Policies } from '../policies/effective.ts';
import { type RecordScope, recordScope, type RecordTarget, targetIn } from './collection.ts';

/** The statements that write records. Only `commitWrite` hands them out. */
export interface RecordStatements {
  insert: typeof insertRecord;
  update: typeof updateFields;
  updateVersion: typeof updateVersion;
  delete: typeof deleteRecord;
  deleteTogether: typeof deleteTogether;
  emptyRelation: typeof emptyRelation;
}

/** The app that a write is done in, as it is by now. */
export interface WriteContext {
  app: AppDefinition;
  connection: Connection;
  policies: Policies;
  statements: RecordStatements;
}

/** A collection that a write is done in. */
export interface WriteScope extends RecordScope {
  statements: RecordStatements;
}

/** The scope of a write of a collection. Throws `404 not_found` when the collection has been deleted. */
export function writeScope(
  { app, statements, ...parts }: WriteContext,
  target: RecordTarget,
): WriteScope {
  return { ...recordScope(targetIn(app, target), parts), statements };
}
