// Deleting a record.
import { isUuid } from '../../storage/sql/ids.ts';
import { selectChecked } from '../../storage/app/records/records.ts';
import { referrersTo } from '../../storage/app/records/referrers.ts';
import { transactionAsConnection } from '../../storage/connections/transaction-as-connection.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import { type Access, refuse } from '../rules/access.ts';
import { writtenByRemoval } from './announce.ts';
import { deleteWithReferrers, type Removal, type RemovalRequest } from './relations/cascade.ts';
import {
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  requireCurrent,
  type WriteDeps,
} from './collection.ts';
import { type WriteContext, type WriteScope, writeScope } from './write-context.ts';
import { failMissing } from './get.ts';
import { rehearseRemoval } from './hooks/removal.ts';
import { explainWriteError } from './input/write-errors.ts';
import { type Rehearsal, startRehearsal } from './hooks/rehearsal.ts';
import { ruleRestriction } from './relations/restrict.ts';
import { commitWrite } from './write.ts';

/** A record that is to be deleted. */
export interface RecordRemoval {
  access: Access;
  id: string;
  now: Date;
}

/**
 * Deletes a record and those that depend on it. Throws `404` when there is none, `401` or `403` when the rule does not admit
 * it, `409 conflict` while a required relation points to it or too many records depend on it, what hooks throw, and as
 * `commitWrite` does.
 */
export async function removeRecord(
  deps: WriteDeps,
  target: RecordTarget,
  { caller, ...removal }: RecordRemoval & { caller?: RecordCaller },
): Promise<{ ok: true }> {
  const rehearsal = await startRehearsal(deps, target.app, caller);
  await commitWrite(deps, target.app, {
    changes: [{ action: 'delete', collection: target.collection.id, id: removal.id }],
    hooks: rehearsal === undefined ? undefined : 'within',
  }, async (context) => {
    const removed = rehearsal === undefined
      ? await applyRemoval(writeScope(context, target), removal)
      : await rehearsal.run(context.connection, (sql) => {
        caller?.requireStillAdmitted?.();
        requireCurrent(deps, context.app);
        return removeRehearsed({ ...context, connection: transactionAsConnection(sql) }, target, {
          removal,
          rehearsal,
        });
      });
    return { result: undefined, written: writtenByRemoval(removed) };
  });
  await rehearsal?.runAfterHooks();
  return { ok: true };
}

/** Deletes a record within a transaction, with its hooks where that is rehearsed. Throws what a deletion throws. */
export async function removeRehearsed(
  context: WriteContext,
  target: RecordTarget,
  { removal, rehearsal }: { removal: RecordRemoval; rehearsal: Rehearsal | undefined },
): Promise<Removal> {
  const remove = () => applyRemoval(writeScope(context, target), removal);
  return await rehearseRemoval(rehearsal, context, { now: removal.now, remove });
}

/** Deletes a record, without hooks, and returns everything that was changed. */
export async function applyRemoval(
  scope: WriteScope,
  { access, id, now }: RecordRemoval,
): Promise<Removal> {
  refuseBuiltIn(scope.target);
  const rule = ruleRestriction(access, scope.target);
  if (!isUuid(id)) failMissing(id);
  try {
    const removal = await remove(scope, { id, rule, now });
    if (removal !== undefined) return removal;
  } catch (error) {
    throw explainWriteError(error, scope.plan);
  }
  return await refuseHidden(scope, access, id);
}

/** Takes one statement where nothing points to the collection. */
async function remove(
  { target, plan, connection, statements }: WriteScope,
  request: RemovalRequest,
): Promise<Removal | undefined> {
  if (referrersTo(target.app, target.collection.id).length > 0) {
    return await connection.transaction((sql) => deleteWithReferrers({ sql, statements }, target, request));
  }
  const deleted = await connection.run((sql) => statements.delete(sql, plan, request.id, request.rule));
  return deleted === undefined ? undefined : { deleted: [deleted], updated: [] };
}

/** Ends the request of a deletion that found nothing: the record is not there, or the rule does not admit it. */
async function refuseHidden(
  { plan, connection }: RecordScope,
  access: Access,
  id: string,
): Promise<never> {
  const found = await connection.run((sql) => selectChecked(sql, plan, id));
  return found === undefined ? failMissing(id) : refuse(access);
}
