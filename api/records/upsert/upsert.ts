// Creating a record, or changing the one that has the same unique values.
import { selectIdByValues } from '../../../storage/app/records/records.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { ApiError, fail, failValidation } from '../../errors.ts';
import type { Access } from '../../rules/access.ts';
import type { RecordCaller } from '../../hooks/ports.ts';
import { onCollection, type RecordScope, type RecordTarget, type WriteDeps } from '../collection.ts';
import { createRecord, previewCreate, type RecordCreation } from '../create.ts';
import type { EnrolDeps } from '../enrol.ts';
import { namesIn } from '../input/selection.ts';
import { readNewValues, type RecordInput } from '../input/values.ts';
import { updateRecord } from '../update.ts';

/** A record that is to be created, unless another one has the same values in the given unique fields. */
export interface RecordUpsert extends RecordCreation {
  /** The unique fields, separated by commas. */
  onConflict: string;
  /** Admits the caller to the update. Called when there is a record to change. */
  admitUpdate: () => Access | Promise<Access>;
  caller: RecordCaller;
}

/** A record that was created, or changed. */
export interface UpsertedRecord {
  record: StoredRecord;
  isNew: boolean;
}

/** Others may create and delete the record meanwhile. */
const maxAttempts = 3;

/**
 * Creates a record, or changes the one that is there: with the rules, hooks and events of an update. The caller must be allowed to
 * create such a record in any case, so that it learns no more of the other one than by a create that meets it. Throws what a
 * create and an update throw, and `400 validation` for fields that are not unique together.
 */
export async function upsertRecord(
  deps: WriteDeps & EnrolDeps,
  target: RecordTarget,
  { onConflict, admitUpdate, caller, ...creation }: RecordUpsert,
): Promise<UpsertedRecord> {
  const names = uniqueNames(target, onConflict);
  const find = () => onCollection(deps, target, (scope) => findExisting(scope, names, creation));
  await onCollection(deps, target, (scope) => previewCreate(deps, scope, creation));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const id = await find();
    try {
      if (id === undefined) {
        return { record: await createRecord(deps, target, { ...creation, caller }), isNew: true };
      }
      const { id: _given, ...input } = creation.input;
      const access = await admitUpdate();
      const record = await updateRecord(deps, target, { access, id, input, now: creation.now, caller });
      return { record, isNew: false };
    } catch (error) {
      if (!(id === undefined ? isTaken(error, names) : isRecordMissing(error))) throw error;
    }
  }
  return fail('conflict', 'the record kept changing meanwhile; try again');
}

/** The fields that `on_conflict` names. Throws `400 validation` unless a unique field or index is over exactly these fields. */
export function uniqueNames(
  { collection }: RecordTarget,
  onConflict: string,
  member = 'on_conflict',
): readonly string[] {
  const names = namesIn(onConflict);
  const { id, kind, fields, indexes } = collection;
  const isSame = (others: readonly string[]) =>
    others.length === names.length && others.every((name) => names.includes(name));
  const isUnique = fields.some(({ name, unique }) => unique === true && isSame([name])) ||
    indexes.some(({ unique, fields }) => unique === true && isSame(fields));
  if (kind !== 'base' || !isUnique) {
    const reason = `"${id}" has no unique field or unique index of exactly these fields`;
    failValidation([{ field: member, reason }]);
  }
  return names;
}

/** The id of the record that has the same values; undefined when there is none, as for values that are null. */
async function findExisting(
  { plan, connection }: Pick<RecordScope, 'plan' | 'connection'>,
  names: readonly string[],
  { input }: Pick<RecordCreation, 'input'>,
): Promise<string | undefined> {
  const wanted = uniqueValues(plan, names, input);
  return await connection.run((sql) => selectIdByValues(sql, plan, wanted));
}

/** The values of the fields that are unique together, by their positions. */
export function uniqueValues(
  plan: RecordScope['plan'],
  names: readonly string[],
  input: RecordInput,
): Parameters<typeof selectIdByValues>[2] {
  const { values } = readNewValues(plan, input);
  const positions = names.map((name) =>
    plan.fieldPosition(name) ?? fail('conflict', 'the collection has changed')
  );
  return positions.map((position) => ({ position, value: values[position] ?? null }));
}

/** True for the conflict with another record that has the same values in these fields, and in no others. */
export function isTaken(error: unknown, names: readonly string[]): boolean {
  return error instanceof ApiError && error.code === 'conflict' && error.errors.length === names.length &&
    error.errors.every(({ field, code }) => code === 'taken' && names.includes(field));
}

/** True when there is no such record. */
export function isRecordMissing(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found';
}
