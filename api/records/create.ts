// Creating a record.
import { insertRecord } from '../../storage/records.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import type { Deps } from '../deps.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { refusalOf } from './refusals.ts';
import { type RecordInput, valuesOfNew } from './values.ts';

/**
 * Creates a record and answers it as it is stored. Throws `400 validation` with everything that is wrong, `409 conflict`
 * for an id or a unique value that is taken.
 */
export async function createRecord(
  deps: RecordDeps & Pick<Deps, 'newId'>,
  target: RecordTarget,
  { input, now }: { input: RecordInput; now: Date },
): Promise<StoredRecord> {
  return await onCollection(deps, target, async ({ plan, connection }) => {
    const { id, values } = valuesOfNew(plan, input);
    const record = { id: id ?? deps.newId(), now: now.toISOString(), values };
    try {
      return await connection.run((sql) => insertRecord(sql, plan, record));
    } catch (error) {
      throw refusalOf(error, plan);
    }
  });
}
