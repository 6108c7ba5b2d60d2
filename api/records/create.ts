// Creating a record.
import type { Sql } from '../../storage/connections/pool.ts';
import { foreseeUser } from '../../storage/workspace/enrol-user.ts';
import { recordOf, wouldPass } from '../../storage/app/records/candidate.ts';
import { insertRecord } from '../../storage/app/records/records.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { hookActorOf } from '../hooks/actor.ts';
import type { Author, WriteHooks } from '../hooks/ports.ts';
import { refuse } from '../rules/access.ts';
import { announce } from './announce.ts';
import { extentOfCreate } from './cache/dependencies.ts';
import {
  onCollection,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  requireCurrent,
  type WriteDeps,
} from './collection.ts';
import {
  type EnrolDeps,
  type Enrolment,
  type EnrolmentRequest,
  insertProfile,
  prepareEnrolment,
  requireSame,
} from './enrol.ts';
import { settledBy } from './hooks/hook-changes.ts';
import { refusalOf } from './input/refusals.ts';
import { refuseUnreachable, restrictionOn, type WrittenValues } from './relations/restrict.ts';
import { valuesOfNew } from './input/values.ts';
import { placeOf } from './write-order.ts';

/** What is asked of a create. */
export interface RecordCreation extends EnrolmentRequest {
  now: Date;
  /** Of a profile, where it has been prepared: before a transaction. */
  enrolment?: Enrolment | undefined;
}

/**
 * Creates a record and answers it as it is stored. Throws `400 validation` with everything that is wrong, `401` or `403`
 * when the rule does not admit the record, `409 conflict` for an id or a unique value that is taken,
 * and what hooks throw.
 */
export async function createRecord(
  deps: WriteDeps & EnrolDeps,
  target: RecordTarget,
  { by, ...asked }: RecordCreation & { by?: Author },
): Promise<StoredRecord> {
  const creation = { ...asked, newId: deps.newId() };
  const known = deps.hooks.writesOf(target.app);
  const hooks = (known instanceof Promise ? await known : known).on(target.collection.id, 'create');
  const actor = hooks === undefined ? undefined : hookActorOf(deps, target.app, by);
  const settled = actor === undefined || hooks?.before !== true
    ? creation
    : await settle(deps, target, creation, async (record) => {
      const changes = await hooks.ask({ actor, record, previous: null });
      by?.requireSender?.();
      return changes;
    });
  const write = () =>
    onCollection(deps, target, async (scope) => {
      if (settled !== creation) requireCurrent(deps, scope.target.app);
      const { input } = settled;
      const create = () => createOn(deps, scope, settled);
      const record = await deps.quotas.write(scope.target.app, { records: 1, input }, create);
      announce(deps, scope.target.app, { type: 'record_created', record });
      return record;
    });
  const during = () => deps.writes.during(extentOfCreate(target), write);
  // Who knows the id, or finds it in a list, can change the record before its create is answered.
  const { newId, input: { id } } = settled;
  const place = placeOf(target.app, typeof id === 'string' ? id : newId);
  const record = await deps.writeOrder.inTurn([place], during);
  if (actor !== undefined && hooks?.after === true) await hooks.tell({ actor, record, previous: null });
  return record;
}

/** Asks hooks, while no connection is held, about a record that its caller may create as far as that can be known. */
async function settle(
  deps: WriteDeps & EnrolDeps,
  target: RecordTarget,
  creation: RecordCreation & { newId: string },
  ask: (record: StoredRecord) => ReturnType<WriteHooks['ask']>,
): Promise<RecordCreation & { newId: string }> {
  const record = await onCollection(deps, target, (scope) => candidateOn(deps, scope, creation));
  return { ...creation, ...settledBy(creation.input, await ask(record)) };
}

/**
 * The record as it would be stored. Throws as the create itself would, but for what only PostgreSQL knows.
 */
export async function candidateOn(
  deps: Pick<EnrolDeps, 'newId'>,
  scope: RecordScope,
  { access, input, now, enrolment, newId }: RecordCreation,
): Promise<StoredRecord> {
  const { plan, connection, target } = scope;
  refuseBuiltIn(target);
  const { id, values, defaulted, credentials } = valuesOfNew(plan, input);
  const user = credentials === undefined
    ? undefined
    : await connection.run((sql) => foreseeUser(sql, credentials.email));
  const chosen = user === undefined ? id : user.id ?? enrolment?.newId;
  const record = { id: chosen ?? newId ?? deps.newId(), now: now.toISOString(), values };
  const written = { positions: plan.everyPosition, values, byOthers: byOthers(defaulted) };
  const restriction = restrictionOn(access, scope, input, written);
  const stored = recordOf(plan, record);
  const candidate = { ...stored, fields: { ...user?.fields, ...stored.fields } };
  const isDecided = restriction.rule === undefined && restriction.reaches.length === 0;
  // The rule of a profile may be about its user, who may not be there yet.
  if (isDecided || user !== undefined && user.id === undefined) return candidate;
  if (await connection.run((sql) => wouldPass(sql, plan, record, restriction))) return candidate;
  await refuseUnreachable(access, scope, written);
  return refuse(access);
}

/** Fields that somebody else than the caller has set. */
function byOthers(defaulted: readonly string[], byHooks?: ReadonlySet<string>): WrittenValues['byOthers'] {
  return defaulted.length === 0 ? byHooks : new Set([...defaulted, ...byHooks ?? []]);
}

/** Creates on connections or in a transaction, without asking hooks. */
export async function createOn(
  deps: EnrolDeps,
  scope: RecordScope,
  creation: RecordCreation,
): Promise<StoredRecord> {
  const { plan, connection } = scope;
  const { access, input, now, newId, hooked } = creation;
  refuseBuiltIn(scope.target);
  const { id, values, defaulted, credentials } = valuesOfNew(plan, input);
  const enrolment = plan.isProfile
    ? creation.enrolment ?? await prepareEnrolment(deps, scope, creation)
    : undefined;
  if (enrolment !== undefined) requireSame(enrolment, credentials);
  const written = { positions: plan.everyPosition, values, byOthers: byOthers(defaulted, hooked?.fields) };
  const restriction = restrictionOn(access, scope, hooked?.body ?? input, written);
  const insert = (sql: Sql, id: string) =>
    insertRecord(sql, plan, { id, now: now.toISOString(), values }, restriction);
  const refuseWrite = async ({ connection }: Pick<RecordScope, 'connection'>) => {
    await refuseUnreachable(access, { ...scope, connection }, written);
    return refuse(access);
  };
  try {
    const created = enrolment === undefined
      ? await connection.run((sql) => insert(sql, id ?? newId ?? deps.newId()))
      : await connection.transaction((sql) =>
        insertProfile(sql, deps, { enrolment, id, now, insert, refuse: refuseWrite })
      );
    if (created !== undefined) return created;
  } catch (error) {
    throw refusalOf(error, plan);
  }
  return await refuseWrite(scope);
}
