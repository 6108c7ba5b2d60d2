// Several writes in one transaction: all of them happen, or none.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { transactionAsConnection } from '../../storage/connections/transaction-as-connection.ts';
import { failValidation } from '../errors.ts';
import type { RecordCaller, WriteAction } from '../hooks/ports.ts';
import { type Access, type AccessRequest, admit, unboundedAccess } from '../rules/access.ts';
import { requireCollection } from '../target.ts';
import { writtenByRemoval, type WrittenRecord } from './announce.ts';
import {
  type BatchRequest,
  type BatchWrite,
  intendedChanges,
  readWrites,
  requestName,
  writeAction,
} from './input/batch-requests.ts';
import { onApp, recordScope, type RecordTarget, requireCurrent, type WriteDeps } from './collection.ts';
import { type WriteContext, writeScope } from './write-context.ts';
import { createRehearsed, previewCreate } from './create.ts';
import { type EnrolDeps, type EnrolmentRequest, type PreparedEnrolment, prepareEnrolment } from './enrol.ts';
import { addLength } from './input/length.ts';
import { lockInOrder } from './relations/lock-order.ts';
import { withErrorPrefix } from './input/error-prefix.ts';
import { type Rehearsal, startRehearsal } from './hooks/rehearsal.ts';
import { removeRehearsed } from './remove.ts';
import { updateRehearsed, writtenByUpdate } from './update.ts';
import { type ReplacedCreate, resolveUpserts, retryRaces, watchRace } from './upsert/batch-upserts.ts';
import { commitOnce, type Committed } from './write.ts';

/** The response that one write would have had by itself. */
export interface BatchResult {
  status: 200 | 201;
  body: StoredRecord | { ok: true };
}

/** A batch and its sender. */
export interface BatchInput {
  requests: readonly BatchRequest[];
  asking: AccessRequest;
  /** True for hook code, which has the rights of the app. */
  isUnbounded?: boolean;
  origin?: EnrolmentRequest['origin'];
  caller?: RecordCaller;
}

type BatchDeps = WriteDeps & EnrolDeps;

/** A write that its rule has not refused so far. */
interface AdmittedWrite {
  target: RecordTarget;
  access: Access;
  write: BatchWrite;
  /** Of a new profile. */
  enrolment?: PreparedEnrolment | undefined;
  /** Of an update in place of a create. */
  replaced?: ReplacedCreate | undefined;
}

/**
 * Does all writes in their order, each under the rule of its collection. A later one sees the earlier ones. Throws what a
 * write throws by itself, with `requests.<index>` before its message; then nothing has been written.
 */
export async function runBatch(
  deps: BatchDeps,
  app: AppDefinition,
  batch: BatchInput,
): Promise<{ results: BatchResult[] }> {
  const writes = readWrites(batch.requests);
  if (writes.length === 0) return { results: [] };
  return await onApp(deps, app, async (app) => {
    // Before the transaction: a connection that holds one must not wait for another.
    const admitted = await admitAll(deps, app, { ...batch, writes });
    const pool = deps.databases.app(app.workspace.database, app.schema);
    await enrolAll(deps, admitted, { connection: pool, origin: batch.origin });
    chooseIds(deps, admitted);
    const results = await retryRaces(async () => {
      const admitUpdate = (target: RecordTarget) => admitOne(deps, target, 'update', batch);
      return await commitAll(
        deps,
        app,
        batch,
        await resolveUpserts(admitted, { connection: pool, admitUpdate }),
      );
    });
    return { results };
  });
}

/** Does all writes in a transaction, with their hooks. */
async function commitAll(
  deps: BatchDeps,
  app: AppDefinition,
  { requests, asking: { now }, caller }: BatchInput,
  admitted: readonly AdmittedWrite[],
): Promise<BatchResult[]> {
  const pool = deps.databases.app(app.workspace.database, app.schema);
  const rehearsal = await startRehearsal(deps, app, caller);
  const writes = admitted.map(({ write }) => write);
  const results = await commitOnce(deps, app, {
    changes: intendedChanges(requests, writes),
    input: writes.every(({ method }) => method === 'DELETE') ? undefined : writes,
    hooks: rehearsal === undefined ? undefined : 'within',
  }, (context) => {
    const work = async (sql: Sql) => {
      caller?.requireStillAdmitted?.();
      if (rehearsal !== undefined) requireCurrent(deps, app);
      return await performAll(deps, sql, { context, admitted, rehearsal, now });
    };
    return rehearsal === undefined ? pool.transaction(work) : rehearsal.run(pool, work);
  });
  await rehearsal?.runAfterHooks();
  return results;
}

/** Does all writes in a transaction. */
async function performAll(
  deps: BatchDeps,
  sql: Sql,
  { context, admitted, rehearsal, now }: {
    context: WriteContext;
    admitted: readonly AdmittedWrite[];
    rehearsal: Rehearsal | undefined;
    now: Date;
  },
): Promise<Committed<BatchResult[]>> {
  await lockInOrder(sql, admitted);
  const inTransaction = { ...context, connection: transactionAsConnection(sql) };
  const result: BatchResult[] = [];
  const written: WrittenRecord[] = [];
  let length = 0;
  for (const [index, write] of admitted.entries()) {
    const name = requestName(index);
    rehearsal?.setName(name);
    const done = await watchRace(
      write,
      name,
      () => perform(deps, write, { context: inTransaction, rehearsal, now }),
    );
    result.push(done.result);
    written.push(...done.written);
    length = addLength(length, done.written.map(({ record }) => record));
  }
  return { result, written };
}

/** Chooses the ids of new records, so that they are the same in each rehearsal, and are keys in the order of writes. */
function chooseIds({ newId }: BatchDeps, admitted: readonly AdmittedWrite[]): void {
  for (const { target, write } of admitted) {
    if (write.method !== 'POST' || target.collection.kind === 'auth') continue;
    write.newId = newId();
  }
}

/** Checks the rules as far as they need neither bodies nor data: a refusal comes before any error of a body. */
async function admitAll(
  deps: BatchDeps,
  app: AppDefinition,
  { writes, ...batch }: BatchInput & { writes: readonly BatchWrite[] },
): Promise<AdmittedWrite[]> {
  const admitted: AdmittedWrite[] = [];
  for (const [index, write] of writes.entries()) {
    admitted.push(
      await withErrorPrefix(requestName(index), async () => {
        const collection = requireCollection(app, batch.requests[index]?.collection ?? '');
        const target = { app, collection };
        return { target, write, access: await admitOne(deps, target, writeAction(write), batch) };
      }),
    );
  }
  return admitted;
}

async function admitOne(
  deps: BatchDeps,
  target: RecordTarget,
  action: WriteAction,
  { asking, isUnbounded }: BatchInput,
): Promise<Access> {
  if (isUnbounded === true) return unboundedAccess(action, asking.now);
  return await admit(deps, target, action, asking);
}

/** Hashing one takes as long as a login does. */
const maxPasswords = 10;

/** Prepares the users of new profiles. Throws what a create throws. */
async function enrolAll(
  deps: BatchDeps,
  admitted: readonly AdmittedWrite[],
  { connection, origin }: { connection: Connection; origin: EnrolmentRequest['origin'] },
): Promise<void> {
  let passwords = 0;
  for (const [index, each] of admitted.entries()) {
    const { target, access, write } = each;
    if (target.collection.kind !== 'auth' || write.method !== 'POST') continue;
    if (write.input['password'] !== undefined && ++passwords > maxPasswords) {
      failValidation([{ field: 'requests', reason: `at most ${maxPasswords} of them can have a password` }]);
    }
    const request = { access, input: write.input, origin };
    each.enrolment = await withErrorPrefix(
      requestName(index),
      () => prepareEnrolment(deps, recordScope(target, { connection, policies: deps.policies }), request),
    );
  }
}

/** Does one write. */
async function perform(
  deps: BatchDeps,
  { target, access, write, enrolment, replaced }: AdmittedWrite,
  { context, rehearsal, now }: { context: WriteContext; rehearsal: Rehearsal | undefined; now: Date },
): Promise<Committed<BatchResult>> {
  switch (write.method) {
    case 'POST': {
      const creation = { access, now, input: write.input, newId: write.newId, enrolment };
      const record = await createRehearsed(deps, writeScope(context, target), creation, rehearsal);
      return { result: { status: 201, body: record }, written: [{ type: 'record_created', record }] };
    }
    case 'PATCH': {
      const update = { access, now, id: write.id, input: write.input };
      const scope = writeScope(context, target);
      if (replaced !== undefined) await previewCreate(deps, scope, { ...replaced, now });
      if (replaced?.refusal !== undefined) throw replaced.refusal;
      const updated = await updateRehearsed(scope, update, rehearsal);
      return { result: { status: 200, body: updated.record }, written: writtenByUpdate(updated) };
    }
    case 'DELETE': {
      const removal = { access, now, id: write.id };
      const removed = await removeRehearsed(context, target, { removal, rehearsal });
      return { result: { status: 200, body: { ok: true } }, written: writtenByRemoval(removed) };
    }
  }
}
