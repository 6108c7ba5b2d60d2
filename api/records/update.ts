// Changing a record. Fields that the body leaves out stay as they are.
import { changedRecord } from '../../storage/app/records/candidate.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import { type CheckedVersion, selectUnchanged, selectVersion } from '../../storage/app/records/versions.ts';
import { type ChangedFields, selectChecked } from '../../storage/app/records/records.ts';
import type { WriteRestriction } from '../../storage/app/records/restriction.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { hookActor } from '../hooks/actor.ts';
import type { WrittenRecord } from './announce.ts';
import type { RecordCaller, WriteHooks } from '../hooks/ports.ts';
import { fail } from '../errors.ts';
import { type Access, refuse } from '../rules/access.ts';
import {
  onCollection,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  type WriteDeps,
} from './collection.ts';
import { type WriteScope, writeScope } from './write-context.ts';
import { failMissing } from './get.ts';
import { applyHookChanges, type HookedInput, type Rehearsal } from './hooks/rehearsal.ts';
import { mayExceedLength, refuseTooLong } from './input/length.ts';
import { explainWriteError } from './input/write-errors.ts';
import { checkFiles, refuseUnreachable, ruleRestriction, writeRestriction } from './relations/restrict.ts';
import { type ChangedValues, readChangedValues, type RecordInput } from './input/values.ts';
import { isModifying, resolveModifiers, updateModified } from './modifiers/resolve.ts';
import { commitWrite } from './write.ts';

/** A record that is to be changed. */
export interface RecordUpdate {
  access: Access;
  id: string;
  input: RecordInput;
  now: Date;
  /** How hooks have changed the input, once they have run. */
  hooked?: HookedInput;
  /** The version of the record that is to be changed; without one, any is. */
  version?: string;
}

/** A record after an update. */
export interface UpdatedRecord {
  record: StoredRecord;
  /** False when it had all of the values already: then it is as it was, its `updated_at` included. */
  isChanged: boolean;
}

/** The record can change while its before-hooks run, and while it is looked at: it is read, and they run, so often. */
const maxAttempts = 3;
/** For updates with modifiers, of which many may come at once. Those in this process take turns. */
const maxModifyingAttempts = 10;

/**
 * Changes the given fields and returns the whole record. Throws `404` when there is none, `400 validation` with
 * everything that is wrong, `401` or `403` when the rule does not admit the record as it is stored, `409 conflict` for a
 * unique value that is taken, what hooks throw, and as `commitWrite` does.
 */
export async function updateRecord(
  deps: WriteDeps,
  target: RecordTarget,
  { caller, ...update }: RecordUpdate & { caller?: RecordCaller },
): Promise<StoredRecord> {
  const hooks = (await deps.hooks.getWriteHooks(target.app)).on(target.collection.id, 'update');
  if (hooks !== undefined) {
    const work = () => updateWithHooks(deps, target, { update, caller, hooks });
    // A write within a hook of the same record would wait for itself.
    if (!isModifying(update) || caller?.hook !== undefined) return await work();
    return await deps.hookOrder.run([`${target.app.schema} ${update.id.toLowerCase()}`], work);
  }
  const record = await commitUpdate(deps, target, update);
  return record ?? fail('unavailable', 'the record changed meanwhile; try again');
}

/** Runs before-hooks while no connection is held, then changes the record if it is still the one that they saw. */
async function updateWithHooks(
  deps: WriteDeps,
  target: RecordTarget,
  { update, caller, hooks }: { update: RecordUpdate; caller: RecordCaller | undefined; hooks: WriteHooks },
): Promise<StoredRecord> {
  const actor = hookActor(deps, target.app, caller);
  const attempts = isModifying(update) ? maxModifyingAttempts : maxAttempts;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const seen = await onCollection(deps, target, (scope) => previewUpdate(scope, update));
    const previous = seen.record;
    const changes = hooks.before
      ? await hooks.runBefore({ actor, record: seen.candidate, previous })
      : undefined;
    caller?.requireStillAdmitted?.();
    const changed = { ...update, ...applyHookChanges(update.input, changes), version: seen.version };
    const record = await commitUpdate(deps, target, changed);
    if (record === undefined) continue;
    if (hooks.after) await hooks.runAfter({ actor, record, previous });
    return record;
  }
  return fail('conflict', 'the record kept changing while hooks looked at it; try again');
}

/** Changes the record, and returns it as it is then; undefined when it is of another version. */
async function commitUpdate(
  deps: WriteDeps,
  target: RecordTarget,
  update: RecordUpdate,
): Promise<StoredRecord | undefined> {
  return await commitWrite(deps, target.app, {
    changes: [{ action: 'update', collection: target.collection.id, id: update.id }],
    input: update.input,
    hooks: update.hooked === undefined ? undefined : 'before',
  }, async (context) => {
    const updated = await applyUpdate(writeScope(context, target), update);
    return { result: updated?.record, written: writtenByUpdate(updated) };
  });
}

/** The record that an update has changed, for those who announce it. */
export function writtenByUpdate(updated: UpdatedRecord | undefined): WrittenRecord[] {
  return updated?.isChanged === true ? [{ type: 'record_updated', record: updated.record }] : [];
}

/** Changes a record within a transaction, with its hooks where that is rehearsed. Throws what an update throws. */
export async function updateRehearsed(
  scope: WriteScope,
  update: RecordUpdate,
  rehearsal: Rehearsal | undefined,
): Promise<UpdatedRecord> {
  const collection = scope.target.collection.id;
  if (rehearsal?.concerns(collection, 'update') !== true) return present(await applyUpdate(scope, update));
  const { candidate, record: previous, version } = await previewUpdate(scope, update);
  const write = { action: 'update', collection, record: candidate, previous } as const;
  const changes = applyHookChanges(update.input, rehearsal.hookChanges(write));
  const updated = present(await applyUpdate(scope, { ...update, ...changes, version }));
  rehearsal.addDone({ ...write, record: updated.record });
  return updated;
}

function present(updated: UpdatedRecord | undefined): UpdatedRecord {
  return updated ?? fail('conflict', 'the record changed while it was looked at; try again');
}

/** A record, and the same record as an update would make it. */
interface UpdatePreview extends CheckedVersion {
  candidate: StoredRecord;
}

/** The record as the update would make it. Throws what the update would throw, but for what only PostgreSQL knows. */
async function previewUpdate(
  scope: RecordScope,
  update: RecordUpdate,
): Promise<UpdatePreview> {
  const { plan, connection } = scope;
  refuseBuiltIn(scope.target);
  const { access, id, input, now, hooked, version } = await resolveModifiers(scope, update);
  if (!isUuid(id)) failMissing(id);
  const values = await readChange(scope, id, input);
  const changed = await checkFiles(access, scope, { ...values, byOthers: hooked?.fields });
  const rule = ruleRestriction(access, scope.target, hooked?.body ?? input);
  const found = await connection.run((sql) => selectVersion(sql, plan, id, rule)) ?? failMissing(id);
  if (!found.passes) refuse(access);
  await refuseUnreachable(access, scope, changed);
  // Of modifiers, the version that the values were made of.
  const seen = version === undefined ? found : { ...found, version };
  return { ...seen, candidate: changedRecord(plan, found.record, { ...changed, now: now.toISOString() }) };
}

/** Stores a change, without hooks. Returns the record as it is then; undefined when it is of another version. */
export async function applyUpdate(
  scope: WriteScope,
  update: RecordUpdate,
): Promise<UpdatedRecord | undefined> {
  if (!isModifying(update)) return await applyValues(scope, update);
  refuseBuiltIn(scope.target);
  return await updateModified(
    scope,
    update,
    (connection, plain) => applyValues({ ...scope, connection }, plain),
  );
}

async function applyValues(
  scope: WriteScope,
  { access, id, input, now, hooked, version }: RecordUpdate,
): Promise<UpdatedRecord | undefined> {
  const { plan, connection } = scope;
  refuseBuiltIn(scope.target);
  const body = hooked?.body ?? input;
  if (!isUuid(id)) failMissing(id);
  const values = await readChange(scope, id, input);
  const changed = await checkFiles(access, scope, { ...values, byOthers: hooked?.fields });
  const restriction = writeRestriction(access, scope, body, changed);
  const change = { id, now: now.toISOString(), ...changed };
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const record = await storeChange(scope, { ...change, version }, restriction);
    if (record !== undefined) return { record, isChanged: true };
    // The refusal goes by the record as it is now, which may be another than the statement met.
    const found = await connection.run((sql) => selectUnchanged(sql, plan, change, restriction.rule));
    if (found === undefined) failMissing(id);
    if (!found.passes) break;
    await refuseUnreachable(access, scope, changed);
    if (version !== undefined && found.version !== version) return undefined;
    if (!found.differs) return { record: found.record, isChanged: false };
  }
  return refuse(access);
}

/** Undefined when the statement has changed nothing. */
async function storeChange(
  { plan, connection, statements }: WriteScope,
  { version, ...change }: ChangedFields & { version: string | undefined },
  restriction: WriteRestriction,
): Promise<StoredRecord | undefined> {
  const store = (sql: Sql) =>
    version === undefined
      ? statements.update(sql, plan, change, restriction)
      : statements.updateVersion(sql, plan, { ...change, version }, restriction);
  try {
    return mayExceedLength(change.values)
      ? await connection.transaction((sql) => store(sql).then(undoTooLong))
      : await connection.run(store);
  } catch (error) {
    throw explainWriteError(error, plan);
  }
}

/** Throws `400 validation` for a record that has become too long, which is known only once it is written. */
function undoTooLong(updated: StoredRecord | undefined): StoredRecord | undefined {
  if (updated !== undefined) refuseTooLong(Object.values(updated.fields));
  return updated;
}

/** The values of a change. A record that does not exist is `404` before the body is refused. */
async function readChange(
  { plan, connection }: RecordScope,
  id: string,
  input: RecordInput,
): Promise<ChangedValues> {
  try {
    return readChangedValues(plan, input);
  } catch (error) {
    const existing = await connection.run((sql) => selectChecked(sql, plan, id));
    if (existing === undefined) failMissing(id);
    throw error;
  }
}
