// Changing a record: what the body leaves out stays as it is.
import { isUuid } from '../../storage/ids.ts';
import { selectRecord, updateRecord as updateRow } from '../../storage/records.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from './collection.ts';
import { failMissing } from './get.ts';
import { refusalOf } from './refusals.ts';
import { type ChangedValues, type RecordInput, valuesOfChange } from './values.ts';

/** What is asked of an update. */
export interface RecordUpdate {
  id: string;
  input: RecordInput;
  now: Date;
}

/**
 * Changes the given fields and answers the whole record. Throws `404` when there is none, `400 validation` with
 * everything that is wrong, `409 conflict` for a unique value that is taken.
 */
export async function updateRecord(
  deps: RecordDeps,
  target: RecordTarget,
  { id, input, now }: RecordUpdate,
): Promise<StoredRecord> {
  if (!isUuid(id)) failMissing(id);
  return await onCollection(deps, target, async (scope) => {
    const { plan, connection } = scope;
    const changed = await readChange(scope, id, input);
    try {
      const updated = await connection.run((sql) =>
        updateRow(sql, plan, { id, now: now.toISOString(), ...changed })
      );
      return updated ?? failMissing(id);
    } catch (error) {
      throw refusalOf(error, plan);
    }
  });
}

/** A record that does not exist is `404` before anything is said of the body. */
async function readChange(
  { plan, connection }: RecordScope,
  id: string,
  input: RecordInput,
): Promise<ChangedValues> {
  try {
    return valuesOfChange(plan, input);
  } catch (error) {
    const existing = await connection.run((sql) => selectRecord(sql, plan, id));
    if (existing === undefined) failMissing(id);
    throw error;
  }
}
