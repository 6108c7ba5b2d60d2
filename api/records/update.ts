// Changing a record: what the body leaves out stays as it is.
import { isUuid } from '../../storage/ids.ts';
import { lookAtRecord, updateRecord as updateRow } from '../../storage/records.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import { type Access, refuse } from '../rules/access.ts';
import { announce } from './announce.ts';
import { writtenTables } from './dependencies.ts';
import {
  onCollection,
  type RecordDeps,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
} from './collection.ts';
import { failMissing } from './get.ts';
import { refusalOf } from './refusals.ts';
import { refuseUnreachable, restrictionOn, ruleOn } from './restrict.ts';
import { type ChangedValues, type RecordInput, valuesOfChange } from './values.ts';

/** What is asked of an update. */
export interface RecordUpdate {
  access: Access;
  id: string;
  input: RecordInput;
  now: Date;
}

/**
 * Changes the given fields and answers the whole record. Throws `404` when there is none, `400 validation` with
 * everything that is wrong, `401` or `403` when the rule does not admit the record as it is stored, `409 conflict` for a
 * unique value that is taken.
 */
export async function updateRecord(
  deps: RecordDeps,
  target: RecordTarget,
  update: RecordUpdate,
): Promise<StoredRecord> {
  return await deps.totals.during(writtenTables(target), () =>
    onCollection(deps, target, async (scope) => {
      const record = await updateOn(scope, update);
      announce(deps, scope.target.app, { type: 'record_updated', record, now: update.now });
      return record;
    }));
}

/** The same on connections or in a transaction. */
export async function updateOn(
  scope: RecordScope,
  { access, id, input, now }: RecordUpdate,
): Promise<StoredRecord> {
  const { plan, connection } = scope;
  refuseBuiltIn(scope.target);
  ruleOn(access, scope.target, input);
  if (!isUuid(id)) failMissing(id);
  const changed = await readChange(scope, id, input);
  const restriction = restrictionOn(access, scope, input, changed);
  try {
    const updated = await connection.run((sql) =>
      updateRow(sql, plan, { id, now: now.toISOString(), ...changed }, restriction)
    );
    if (updated !== undefined) return updated;
  } catch (error) {
    throw refusalOf(error, plan);
  }
  // The record as it is now, whatever it was: there is no answer that fits both.
  const found = await connection.run((sql) => lookAtRecord(sql, plan, id, restriction.rule));
  if (found === undefined) failMissing(id);
  if (found.passes) await refuseUnreachable(access, scope, changed);
  return refuse(access);
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
    const existing = await connection.run((sql) => lookAtRecord(sql, plan, id));
    if (existing === undefined) failMissing(id);
    throw error;
  }
}
