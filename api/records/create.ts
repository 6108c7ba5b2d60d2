// Creating a record.
import { insertRecord } from '../../storage/records.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import type { Deps } from '../deps.ts';
import { type Access, refuse } from '../rules/access.ts';
import { announce } from './announce.ts';
import { writtenTables } from './dependencies.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from './collection.ts';
import { refusalOf } from './refusals.ts';
import { refuseUnreachable, restrictionOn } from './restrict.ts';
import { type RecordInput, valuesOfNew } from './values.ts';

/** What is asked of a create. */
export interface RecordCreation {
  access: Access;
  input: RecordInput;
  now: Date;
}

/**
 * Creates a record and answers it as it is stored. Throws `400 validation` with everything that is wrong, `401` or `403`
 * when the rule does not admit the record, `409 conflict` for an id or a unique value that is taken.
 */
export async function createRecord(
  deps: RecordDeps & Pick<Deps, 'newId'>,
  target: RecordTarget,
  creation: RecordCreation,
): Promise<StoredRecord> {
  return await deps.totals.during(writtenTables(target), () =>
    onCollection(deps, target, async (scope) => {
      const record = await createOn(deps, scope, creation);
      announce(deps, scope.target.app, { type: 'record_created', record, now: creation.now });
      return record;
    }));
}

/** The same on connections or in a transaction. */
export async function createOn(
  deps: Pick<Deps, 'newId'>,
  scope: RecordScope,
  { access, input, now }: RecordCreation,
): Promise<StoredRecord> {
  const { plan, connection } = scope;
  const { id, values } = valuesOfNew(plan, input);
  const record = { id: id ?? deps.newId(), now: now.toISOString(), values };
  const written = { positions: plan.everyPosition, values };
  const restriction = restrictionOn(access, scope, input, written);
  try {
    const created = await connection.run((sql) => insertRecord(sql, plan, record, restriction));
    if (created !== undefined) return created;
  } catch (error) {
    throw refusalOf(error, plan);
  }
  await refuseUnreachable(access, scope, written);
  return refuse(access);
}
