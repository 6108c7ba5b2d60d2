// Deleting a record.
import { isUuid } from '../../storage/ids.ts';
import { deleteRecord, lookAtRecord } from '../../storage/records.ts';
import { type Access, refuse } from '../rules/access.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from './collection.ts';
import { failMissing } from './get.ts';
import { refusalOf } from './refusals.ts';
import { ruleOn } from './restrict.ts';

/**
 * Deletes a record. Throws `404` when there is none, `401` or `403` when the rule does not admit it, `409 conflict` while
 * a required relation points to it.
 */
export async function removeRecord(
  deps: RecordDeps,
  target: RecordTarget,
  { access, id }: { access: Access; id: string },
): Promise<{ ok: true }> {
  return await onCollection(deps, target, async (scope) => {
    const rule = ruleOn(access, scope.target);
    if (!isUuid(id)) failMissing(id);
    try {
      const deleted = await scope.connection.run((sql) => deleteRecord(sql, scope.plan, id, rule));
      if (deleted) return { ok: true };
    } catch (error) {
      throw refusalOf(error, scope.plan);
    }
    return await refuseHidden(scope, access, id);
  });
}

/** Ends the request when nothing was written: the record is not there, or the rule does not admit it. */
async function refuseHidden(
  { plan, connection }: RecordScope,
  access: Access,
  id: string,
): Promise<never> {
  const found = await connection.run((sql) => lookAtRecord(sql, plan, id));
  return found === undefined ? failMissing(id) : refuse(access);
}
