// Creates and updates inside a transaction that is rehearsed: each asks its hooks where it stands in the order of the writes.
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { fail } from '../../errors.ts';
import type { RecordScope } from '../collection.ts';
import { candidateOn, createOn, type RecordCreation } from '../create.ts';
import type { EnrolDeps } from '../enrol.ts';
import { settledBy } from './hook-changes.ts';
import type { Rehearsal } from './rehearsal.ts';
import { lookOn, type RecordUpdate, updateOn } from '../update.ts';

/** Creates a record. Throws what a create throws. */
export async function createRehearsed(
  deps: EnrolDeps,
  scope: RecordScope,
  creation: RecordCreation,
  rehearsal: Rehearsal | undefined,
): Promise<StoredRecord> {
  const collection = scope.target.collection.id;
  if (rehearsal?.concerns(collection, 'create') !== true) return await createOn(deps, scope, creation);
  const candidate = await candidateOn(deps, scope, creation);
  const question = { action: 'create', collection, record: candidate, previous: null } as const;
  const record = await createOn(deps, scope, {
    ...creation,
    ...settledBy(creation.input, rehearsal.ask(question)),
  });
  rehearsal.note({ ...question, record });
  return record;
}

/** Changes a record. Throws what an update throws. */
export async function updateRehearsed(
  scope: RecordScope,
  update: RecordUpdate,
  rehearsal: Rehearsal | undefined,
): Promise<StoredRecord> {
  const collection = scope.target.collection.id;
  if (rehearsal?.concerns(collection, 'update') !== true) return present(await updateOn(scope, update));
  const { candidate, record: previous, version } = await lookOn(scope, update);
  const question = { action: 'update', collection, record: candidate, previous } as const;
  const changes = rehearsal.ask(question);
  const record = present(await updateOn(scope, { ...update, ...settledBy(update.input, changes), version }));
  rehearsal.note({ ...question, record });
  return record;
}

function present(record: StoredRecord | undefined): StoredRecord {
  return record ?? fail('conflict', 'the record changed while it was looked at; try again');
}
