// Deleting a record.
import { isUuid } from '../../storage/ids.ts';
import { deleteRecord } from '../../storage/records.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { failMissing } from './get.ts';
import { refusalOf } from './refusals.ts';

/** Deletes a record. Throws `404` when there is none, `409 conflict` while a required relation points to it. */
export async function removeRecord(
  deps: RecordDeps,
  target: RecordTarget,
  id: string,
): Promise<{ ok: true }> {
  if (!isUuid(id)) failMissing(id);
  return await onCollection(deps, target, async ({ plan, connection }) => {
    try {
      const deleted = await connection.run((sql) => deleteRecord(sql, plan, id));
      return deleted ? { ok: true } : failMissing(id);
    } catch (error) {
      throw refusalOf(error, plan);
    }
  });
}
