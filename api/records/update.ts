// Changing a record: what the body leaves out stays as it is.
import { shownValue } from '../../storage/app/records/candidate.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { lookAtVersion, updateVersion, type VersionedLook } from '../../storage/app/records/versions.ts';
import { lookAtRecord, updateRecord as updateRow } from '../../storage/app/records/records.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { RecordPlan, StoredRecord } from '../../storage/app/records/plan.ts';
import { hookActorOf } from '../hooks/actor.ts';
import type { Author, WriteHooks } from '../hooks/ports.ts';
import { fail } from '../errors.ts';
import { type Access, refuse } from '../rules/access.ts';
import { announce } from './announce.ts';
import { extentOfUpdate } from './cache/dependencies.ts';
import {
  onCollection,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  requireCurrent,
  type WriteDeps,
} from './collection.ts';
import { failMissing } from './get.ts';
import { type Hooked, mostLooks, settledBy } from './hooks/hook-changes.ts';
import { mayBeTooLong, refuseTooLong } from './input/length.ts';
import { refusalOf } from './input/refusals.ts';
import { refuseUnreachable, restrictionOn, ruleOn } from './relations/restrict.ts';
import { placeOf } from './write-order.ts';
import { type ChangedValues, type RecordInput, valuesOfChange } from './input/values.ts';

/** What is asked of an update. */
export interface RecordUpdate {
  access: Access;
  id: string;
  input: RecordInput;
  now: Date;
  /** What hooks did to the input, once they were asked. */
  hooked?: Hooked;
  /** Only this version of the record is changed. */
  version?: string;
}

/**
 * Changes the given fields and answers the whole record. Throws `404` when there is none, `400 validation` with
 * everything that is wrong, `401` or `403` when the rule does not admit the record as it is stored, `409 conflict` for a
 * unique value that is taken, and what hooks throw.
 */
export async function updateRecord(
  deps: WriteDeps,
  target: RecordTarget,
  { by, ...update }: RecordUpdate & { by?: Author },
): Promise<StoredRecord> {
  const known = deps.hooks.writesOf(target.app);
  const hooks = (known instanceof Promise ? await known : known).on(target.collection.id, 'update');
  if (hooks !== undefined) return await updateAsked(deps, target, { update, by, hooks });
  const updated = await write(deps, target, update);
  return updated ?? fail('unavailable', 'the record changed meanwhile; try again');
}

/** The hooks run while no connection is held; then the record must still be the one that they saw. */
async function updateAsked(
  deps: WriteDeps,
  target: RecordTarget,
  { update, by, hooks }: { update: RecordUpdate; by: Author | undefined; hooks: WriteHooks },
): Promise<StoredRecord> {
  const actor = hookActorOf(deps, target.app, by);
  for (let look = 0; look < mostLooks; look++) {
    const seen = await onCollection(deps, target, (scope) => lookOn(scope, update));
    const previous = seen.record;
    const changes = hooks.before ? await hooks.ask({ actor, record: seen.candidate, previous }) : undefined;
    by?.requireSender?.();
    const settled = { ...update, ...settledBy(update.input, changes), version: seen.version };
    const record = await write(deps, target, settled);
    if (record === undefined) continue;
    if (hooks.after) await hooks.tell({ actor, record, previous });
    return record;
  }
  return fail('conflict', 'the record kept changing while hooks looked at it; try again');
}

async function write(
  deps: WriteDeps,
  target: RecordTarget,
  update: RecordUpdate,
): Promise<StoredRecord | undefined> {
  const work = () =>
    onCollection(deps, target, async (scope) => {
      if (update.hooked !== undefined) requireCurrent(deps, scope.target.app);
      const addition = { records: 0, input: update.input };
      const change = () => updateOn(scope, update);
      const record = await deps.quotas.write(scope.target.app, addition, change);
      if (record === undefined) return undefined;
      announce(deps, scope.target.app, { type: 'record_updated', record });
      return record;
    });
  return await deps.writeOrder.inTurn(
    [placeOf(target.app, update.id)],
    () => deps.writes.during(extentOfUpdate(target, update.id), work),
  );
}

/** A record and what an update would make of it. */
export interface Prospect extends VersionedLook {
  candidate: StoredRecord;
}

/** Looks at a record that is about to be changed. Throws as the update itself would, but for what only PostgreSQL knows. */
export async function lookOn(
  scope: RecordScope,
  { access, id, input, now }: RecordUpdate,
): Promise<Prospect> {
  const { plan, connection } = scope;
  refuseBuiltIn(scope.target);
  if (!isUuid(id)) failMissing(id);
  const changed = await readChange(scope, id, input);
  const rule = ruleOn(access, scope.target, input);
  const found = await connection.run((sql) => lookAtVersion(sql, plan, id, rule)) ?? failMissing(id);
  if (!found.passes) refuse(access);
  await refuseUnreachable(access, scope, changed);
  return { ...found, candidate: changedBy(plan, found.record, { ...changed, now: now.toISOString() }) };
}

function changedBy(
  plan: RecordPlan,
  record: StoredRecord,
  { positions, values, now }: ChangedValues & { now: string },
): StoredRecord {
  const fields = { ...record.fields };
  for (const [index, position] of positions.entries()) {
    const planned = plan.fields[position];
    if (planned === undefined) continue;
    const { name, kind } = planned.field;
    fields[name] = shownValue(kind, values[index] ?? null);
  }
  return { ...record, fields, updated_at: now };
}

/** The same on connections or in a transaction, without asking hooks; undefined when the record is of another version. */
export async function updateOn(
  scope: RecordScope,
  { access, id, input, now, hooked, version }: RecordUpdate,
): Promise<StoredRecord | undefined> {
  const { plan, connection } = scope;
  refuseBuiltIn(scope.target);
  const body = hooked?.body ?? input;
  if (!isUuid(id)) failMissing(id);
  const changed = { ...await readChange(scope, id, input), byOthers: hooked?.fields };
  const restriction = restrictionOn(access, scope, body, changed);
  const change = { id, now: now.toISOString(), ...changed };
  const store = (sql: Sql) =>
    version === undefined
      ? updateRow(sql, plan, change, restriction)
      : updateVersion(sql, plan, { ...change, version }, restriction);
  try {
    const updated = mayBeTooLong(changed.values)
      ? await connection.transaction((sql) => store(sql).then(undoTooLong))
      : await connection.run(store);
    if (updated !== undefined) return updated;
  } catch (error) {
    throw refusalOf(error, plan);
  }
  // The record as it is now, whatever it was: there is no answer that fits both.
  const found = await connection.run((sql) => lookAtRecord(sql, plan, id, restriction.rule));
  if (found === undefined) failMissing(id);
  if (found.passes) await refuseUnreachable(access, scope, changed);
  return found.passes && version !== undefined ? undefined : refuse(access);
}

/** How long a record has become is known once it is written. */
function undoTooLong(updated: StoredRecord | undefined): StoredRecord | undefined {
  if (updated !== undefined) refuseTooLong(Object.values(updated.fields));
  return updated;
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
