// Several writes in one transaction: all of them happen, or none.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Connection, Sql } from '../../storage/connections/pool.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { within } from '../../storage/connections/within.ts';
import { fail } from '../errors.ts';
import type { Author } from '../hooks/ports.ts';
import { type Access, admit, type Asking } from '../rules/access.ts';
import { collectionOf } from '../target.ts';
import { type Written, writtenBy } from './announce.ts';
import {
  actionOf,
  type BatchRequest,
  changesOf,
  nameOf,
  type Write,
  writesOf,
} from './input/batch-requests.ts';
import { onApp, type RecordTarget, requireCurrent, scopeOf, type WriteDeps } from './collection.ts';
import { type WriteContext, writeScopeOf } from './write-context.ts';
import { createRehearsed } from './create.ts';
import { type EnrolDeps, type Enrolment, type EnrolmentRequest, prepareEnrolment } from './enrol.ts';
import { addLength } from './input/length.ts';
import { lockInOrder } from './relations/lock-order.ts';
import { naming } from './input/error-prefix.ts';
import { type Rehearsal, rehearsalOf } from './hooks/rehearsal.ts';
import { removeRehearsed } from './remove.ts';
import { updateRehearsed } from './update.ts';
import { commitOnce, type Committed } from './write.ts';

/** What one write would have been answered by itself. */
export interface BatchResult {
  status: 200 | 201;
  body: StoredRecord | { ok: true };
}

/** A batch and who sends it. */
export interface Batch {
  requests: readonly BatchRequest[];
  asking: Asking;
  origin?: EnrolmentRequest['origin'];
  by?: Author;
}

type BatchDeps = WriteDeps & EnrolDeps;

/** A write that its rule has not refused so far. */
interface Admitted {
  target: RecordTarget;
  access: Access;
  write: Write;
  /** Of a new profile. */
  enrolment?: Enrolment | undefined;
}

/**
 * Does all writes in their order, each under the rule of its collection; a later one sees the earlier ones. Throws what a
 * write throws by itself, with `requests.<index>` before its message, and then nothing has happened.
 */
export async function runBatch(
  deps: BatchDeps,
  app: AppDefinition,
  batch: Batch,
): Promise<{ results: BatchResult[] }> {
  const writes = writesOf(batch.requests);
  if (writes.length === 0) return { results: [] };
  return await onApp(deps, app, async (app) => {
    // Before the transaction: a connection that holds one must not wait for another.
    const admitted = await admitAll(deps, app, { ...batch, writes });
    const pool = deps.databases.app(app.workspace.database, app.schema);
    await enrolAll(deps, admitted, { connection: pool, origin: batch.origin });
    const rehearsal = await rehearsalOf(deps, app, batch.by);
    chooseIds(deps, admitted);
    const results = await commitOnce(deps, app, {
      changes: changesOf(batch.requests, writes),
      input: writes,
      hooks: rehearsal === undefined ? undefined : 'within',
    }, (context) => {
      const work = async (sql: Sql) => {
        batch.by?.requireSender?.();
        if (rehearsal !== undefined) requireCurrent(deps, app);
        return await performAll(deps, sql, { context, admitted, rehearsal, now: batch.asking.now });
      };
      return rehearsal === undefined ? pool.transaction(work) : rehearsal.run(pool, work);
    });
    await rehearsal?.tell();
    return { results };
  });
}

/** Does all writes in a transaction. */
async function performAll(
  deps: BatchDeps,
  sql: Sql,
  { context, admitted, rehearsal, now }: {
    context: WriteContext;
    admitted: readonly Admitted[];
    rehearsal: Rehearsal | undefined;
    now: Date;
  },
): Promise<Committed<BatchResult[]>> {
  await lockInOrder(sql, admitted);
  const inTransaction = { ...context, connection: within(sql) };
  const result: BatchResult[] = [];
  const written: Written[] = [];
  let length = 0;
  for (const [index, write] of admitted.entries()) {
    const name = nameOf(index);
    rehearsal?.goOnTo(name);
    const done = await naming(name, () => perform(deps, write, { context: inTransaction, rehearsal, now }));
    result.push(done.result);
    written.push(...done.written);
    length = addLength(length, done.written.map(({ record }) => record));
  }
  return { result, written };
}

/** So that a new record is the same each time that the transaction is rehearsed, and has its turn among the writes of it. */
function chooseIds({ newId }: BatchDeps, admitted: readonly Admitted[]): void {
  for (const { target, write } of admitted) {
    if (write.method !== 'POST' || target.collection.kind === 'auth') continue;
    write.newId = newId();
  }
}

/** Asks the rules as far as they can be decided without bodies and data, before anything is said of those. */
async function admitAll(
  deps: BatchDeps,
  app: AppDefinition,
  { requests, writes, asking }: Batch & { writes: readonly Write[] },
): Promise<Admitted[]> {
  const admitted: Admitted[] = [];
  for (const [index, write] of writes.entries()) {
    admitted.push(
      await naming(nameOf(index), async () => {
        const target = { app, collection: collectionOf(app, requests[index]?.collection ?? '') };
        return { target, write, access: await admit(deps, target, actionOf(write), asking) };
      }),
    );
  }
  return admitted;
}

/** Each takes as long as a login does: one request must not make many. */
const maximalPasswords = 10;

/** Prepares the users of new profiles. Throws what a create would. */
async function enrolAll(
  deps: BatchDeps,
  admitted: readonly Admitted[],
  { connection, origin }: { connection: Connection; origin: EnrolmentRequest['origin'] },
): Promise<void> {
  let passwords = 0;
  for (const [index, each] of admitted.entries()) {
    const { target, access, write } = each;
    if (target.collection.kind !== 'auth' || write.method !== 'POST') continue;
    if (write.input['password'] !== undefined && ++passwords > maximalPasswords) {
      fail('validation', `requests: at most ${maximalPasswords} of them can have a password`);
    }
    const request = { access, input: write.input, origin };
    each.enrolment = await naming(
      nameOf(index),
      () => prepareEnrolment(deps, scopeOf(target, connection), request),
    );
  }
}

/** Does one write. */
async function perform(
  deps: BatchDeps,
  { target, access, write, enrolment }: Admitted,
  { context, rehearsal, now }: { context: WriteContext; rehearsal: Rehearsal | undefined; now: Date },
): Promise<Committed<BatchResult>> {
  switch (write.method) {
    case 'POST': {
      const creation = { access, now, input: write.input, newId: write.newId, enrolment };
      const record = await createRehearsed(deps, writeScopeOf(context, target), creation, rehearsal);
      return { result: { status: 201, body: record }, written: [{ type: 'record_created', record }] };
    }
    case 'PATCH': {
      const update = { access, now, id: write.id, input: write.input };
      const record = await updateRehearsed(writeScopeOf(context, target), update, rehearsal);
      return { result: { status: 200, body: record }, written: [{ type: 'record_updated', record }] };
    }
    case 'DELETE': {
      const removal = { access, now, id: write.id };
      const removed = await removeRehearsed(context, target, { removal, rehearsal });
      return { result: { status: 200, body: { ok: true } }, written: writtenBy(removed) };
    }
  }
}
