// Creating a record.
import type { Sql } from '../../storage/connections/pool.ts';
import { previewUser } from '../../storage/workspace/enrol-user.ts';
import { candidateRecord, wouldPass } from '../../storage/app/records/candidate.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { hookActor } from '../hooks/actor.ts';
import type { Actor, RecordCaller, WriteHooks } from '../hooks/ports.ts';
import { refuse } from '../rules/access.ts';
import {
  onCollection,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  type WriteDeps,
} from './collection.ts';
import { type WriteScope, writeScope } from './write-context.ts';
import {
  type EnrolDeps,
  type EnrolmentRequest,
  insertProfile,
  type PreparedEnrolment,
  prepareEnrolment,
  requireSame,
} from './enrol.ts';
import { applyHookChanges, type Rehearsal } from './hooks/rehearsal.ts';
import { explainWriteError } from './input/write-errors.ts';
import { checkFiles, refuseUnreachable, writeRestriction, type WrittenValues } from './relations/restrict.ts';
import { readNewValues } from './input/values.ts';
import { commitWrite } from './write.ts';

/** A record that is to be created. */
export interface RecordCreation extends EnrolmentRequest {
  now: Date;
  /** Of a profile whose create is part of a transaction, before which it was prepared. */
  enrolment?: PreparedEnrolment | undefined;
}

/**
 * Creates a record and returns it as it is stored. Throws `400 validation` with everything that is wrong, `401` or `403`
 * when the rule does not admit the record, `409 conflict` for an id or a unique value that is taken, what hooks throw, and
 * as `commitWrite` does.
 */
export async function createRecord(
  deps: WriteDeps & EnrolDeps,
  target: RecordTarget,
  { caller, ...request }: RecordCreation & { caller?: RecordCaller },
): Promise<StoredRecord> {
  const asked = { ...request, newId: deps.newId() };
  const hooks = (await deps.hooks.getWriteHooks(target.app)).on(
    target.collection.id,
    'create',
    target.collection.kind === 'auth',
  );
  const actor = hookActor(deps, target.app, caller);
  const creation = hooks?.before === true
    ? await runBeforeHooks(deps, target, asked, { hooks, actor, caller })
    : asked;
  // A caller who knows the id, or finds it in a list, can change the record before the response to its create.
  const { newId, input } = creation;
  const id = typeof input['id'] === 'string' ? input['id'] : newId;
  const record = await commitWrite(deps, target.app, {
    changes: [{ action: 'create', collection: target.collection.id, id }],
    input,
    hooks: hooks?.before === true ? 'before' : undefined,
  }, async (context) => {
    const record = await applyCreate(deps, writeScope(context, target), creation);
    return { result: record, written: [{ type: 'record_created', record }] };
  });
  if (hooks?.after === true) await hooks.runAfter({ actor, record, previous: null });
  return record;
}

/** Runs before-hooks, while no connection is held, once the rule admits the record as far as that can be known. */
async function runBeforeHooks(
  deps: WriteDeps & EnrolDeps,
  target: RecordTarget,
  creation: RecordCreation & { newId: string },
  { hooks, actor, caller }: { hooks: WriteHooks; actor: Actor; caller: RecordCaller | undefined },
): Promise<RecordCreation & { newId: string }> {
  const preview = await onCollection(deps, target, (scope) => previewCreate(deps, scope, creation));
  const changes = await hooks.runBefore({ ...preview, actor, previous: null });
  caller?.requireStillAdmitted?.();
  return { ...creation, ...applyHookChanges(creation.input, changes) };
}

/**
 * Creates a record within a transaction, with its hooks where that is rehearsed, and returns it as it is stored. Throws
 * what a create throws.
 */
export async function createRehearsed(
  deps: EnrolDeps,
  scope: WriteScope,
  creation: RecordCreation,
  rehearsal: Rehearsal | undefined,
): Promise<StoredRecord> {
  const { id: collection, kind } = scope.target.collection;
  if (rehearsal?.concerns(collection, 'create', kind === 'auth') !== true) {
    return await applyCreate(deps, scope, creation);
  }
  const preview = await previewCreate(deps, scope, creation);
  const write = { action: 'create', collection, ...preview, previous: null } as const;
  const changed = { ...creation, ...applyHookChanges(creation.input, rehearsal.hookChanges(write)) };
  const record = await applyCreate(deps, scope, changed);
  rehearsal.addDone({ ...write, record });
  return record;
}

/**
 * The record as it would be stored, and whether that makes a user. Throws what the create would throw, but for what only
 * PostgreSQL knows.
 */
export async function previewCreate(
  deps: Pick<EnrolDeps, 'newId'>,
  scope: RecordScope,
  { access, input, now, enrolment, newId }: RecordCreation,
): Promise<{ record: StoredRecord; registers: boolean }> {
  const { plan, connection, target } = scope;
  refuseBuiltIn(target);
  const { id, values, defaulted, credentials } = readNewValues(plan, input);
  const user = credentials === undefined
    ? undefined
    : await connection.run((sql) => previewUser(sql, credentials.email));
  const chosen = user === undefined ? id : user.id ?? enrolment?.newId;
  const record = { id: chosen ?? newId ?? deps.newId(), now: now.toISOString(), values };
  const written = await checkFiles(access, scope, {
    positions: plan.allPositions,
    values,
    byOthers: notByCaller(defaulted),
  });
  const restriction = writeRestriction(access, scope, input, written);
  const stored = candidateRecord(plan, record);
  const registers = user !== undefined && user.id === undefined;
  const candidate = { record: { ...stored, fields: { ...user?.fields, ...stored.fields } }, registers };
  if (restriction.rule === undefined && restriction.targets.length === 0) return candidate;
  // The rule of a profile may read its user, who may not be there yet.
  if (!registers && await connection.run((sql) => wouldPass(sql, plan, record, restriction))) {
    return candidate;
  }
  await refuseUnreachable(access, scope, written);
  return registers ? candidate : refuse(access);
}

/** The fields that hooks or defaults have set. */
function notByCaller(defaulted: readonly string[], byHooks?: ReadonlySet<string>): WrittenValues['byOthers'] {
  return defaulted.length === 0 ? byHooks : new Set([...defaulted, ...byHooks ?? []]);
}

/** Stores a record, without hooks. */
async function applyCreate(
  deps: EnrolDeps,
  scope: WriteScope,
  creation: RecordCreation,
): Promise<StoredRecord> {
  const { plan, connection, statements } = scope;
  const { access, input, now, newId, hooked } = creation;
  refuseBuiltIn(scope.target);
  const { id, values, defaulted, credentials } = readNewValues(plan, input);
  const enrolment = plan.isProfile
    ? creation.enrolment ?? await prepareEnrolment(deps, scope, creation)
    : undefined;
  if (enrolment !== undefined) requireSame(enrolment, credentials);
  const written = await checkFiles(access, scope, {
    positions: plan.allPositions,
    values,
    byOthers: notByCaller(defaulted, hooked?.fields),
  });
  const restriction = writeRestriction(access, scope, hooked?.body ?? input, written);
  const insert = (sql: Sql, id: string) =>
    statements.insert(sql, plan, { id, now: now.toISOString(), values }, restriction);
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
    throw explainWriteError(error, plan);
  }
  return await refuseWrite(scope);
}
