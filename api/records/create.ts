// Creating a record.
import type { Sql } from '../../storage/pool.ts';
import { insertRecord } from '../../storage/records.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import { refuse } from '../rules/access.ts';
import { announce } from './announce.ts';
import { writtenTables } from './dependencies.ts';
import {
  onCollection,
  type RecordDeps,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
} from './collection.ts';
import {
  type EnrolDeps,
  type Enrolment,
  type EnrolmentRequest,
  insertProfile,
  prepareEnrolment,
} from './enrol.ts';
import { refusalOf } from './refusals.ts';
import { refuseUnreachable, restrictionOn } from './restrict.ts';
import { valuesOfNew } from './values.ts';

/** What is asked of a create. */
export interface RecordCreation extends EnrolmentRequest {
  now: Date;
  /** Of a profile, where it has been prepared: before a transaction. */
  enrolment?: Enrolment | undefined;
}

/**
 * Creates a record and answers it as it is stored. Throws `400 validation` with everything that is wrong, `401` or `403`
 * when the rule does not admit the record, `409 conflict` for an id or a unique value that is taken.
 */
export async function createRecord(
  deps: RecordDeps & EnrolDeps,
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
  deps: EnrolDeps,
  scope: RecordScope,
  creation: RecordCreation,
): Promise<StoredRecord> {
  const { plan, connection } = scope;
  const { access, input, now } = creation;
  refuseBuiltIn(scope.target);
  const { id, values } = valuesOfNew(plan, input);
  const enrolment = plan.isProfile
    ? creation.enrolment ?? await prepareEnrolment(deps, scope, creation)
    : undefined;
  const written = { positions: plan.everyPosition, values };
  const restriction = restrictionOn(access, scope, input, written);
  const insert = (sql: Sql, id: string) =>
    insertRecord(sql, plan, { id, now: now.toISOString(), values }, restriction);
  const refuseWrite = async ({ connection }: Pick<RecordScope, 'connection'>) => {
    await refuseUnreachable(access, { ...scope, connection }, written);
    return refuse(access);
  };
  try {
    const created = enrolment === undefined
      ? await connection.run((sql) => insert(sql, id ?? deps.newId()))
      : await connection.transaction((sql) =>
        insertProfile(sql, deps, { enrolment, id, now, insert, refuse: refuseWrite })
      );
    if (created !== undefined) return created;
  } catch (error) {
    throw refusalOf(error, plan);
  }
  return await refuseWrite(scope);
}
