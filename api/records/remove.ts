// Deleting a record.
import { isUuid } from '../../storage/sql/ids.ts';
import { deleteRecord, lookAtRecord } from '../../storage/app/records/records.ts';
import { referrersOf } from '../../storage/app/records/referrers.ts';
import { within } from '../../storage/connections/within.ts';
import type { Author } from '../hooks/ports.ts';
import { type Access, refuse } from '../rules/access.ts';
import { announceInTurn, writtenBy } from './announce.ts';
import { type Removal, type RemovalRequest, removeWithReferrers } from './relations/cascade.ts';
import {
  onCollection,
  type RecordScope,
  type RecordTarget,
  refuseBuiltIn,
  requireCurrent,
  scopeOf,
  type WriteDeps,
} from './collection.ts';
import { extentOfRemoval } from './cache/dependencies.ts';
import { failMissing } from './get.ts';
import { removeAsked } from './hooks/removal.ts';
import { refusalOf } from './input/refusals.ts';
import { type Rehearsal, rehearsalOf } from './hooks/rehearsal.ts';
import { ruleOn } from './relations/restrict.ts';
import { placeOf } from './write-order.ts';

/** What is asked of a deletion. */
export interface RecordRemoval {
  access: Access;
  id: string;
  now: Date;
}

/**
 * Deletes a record and those that go with it. Throws `404` when there is none, `401` or `403` when the rule does not admit
 * it, `409 conflict` while a required relation points to it or too many records depend on it, and what hooks throw.
 */
export async function removeRecord(
  deps: WriteDeps,
  target: RecordTarget,
  { by, ...removal }: RecordRemoval & { by?: Author },
): Promise<{ ok: true }> {
  const rehearsal = await rehearsalOf(deps, target.app, by);
  // Hooks may take seconds, and write the record themselves.
  const held = rehearsal === undefined ? [placeOf(target.app, removal.id)] : [];
  const work = (scope: RecordScope) =>
    deps.writes.during(extentOfRemoval(scope.target, removal.id), async () => {
      const removed = await removeWithHooks(deps, scope, removal, { rehearsal, by });
      await announceInTurn(deps, scope.target.app, { written: writtenBy(removed), held });
    });
  await deps.writeOrder.inTurn(held, () => onCollection(deps, target, work));
  await rehearsal?.tell();
  return { ok: true };
}

function removeWithHooks(
  deps: Pick<WriteDeps, 'definitions'>,
  scope: RecordScope,
  removal: RecordRemoval,
  { rehearsal, by }: { rehearsal: Rehearsal | undefined; by: Author | undefined },
): Promise<Removal> {
  const { target, connection } = scope;
  if (rehearsal === undefined) return removeOn(scope, removal);
  return rehearsal.run(connection, (sql) => {
    by?.requireSender?.();
    requireCurrent(deps, target.app);
    return removeRehearsed(scopeOf(target, within(sql)), removal, rehearsal);
  });
}

/** In a transaction that may be rehearsed. Throws what a deletion throws. */
export async function removeRehearsed(
  scope: RecordScope,
  removal: RecordRemoval,
  rehearsal: Rehearsal | undefined,
): Promise<Removal> {
  const { app } = scope.target;
  const remove = () => removeOn(scope, removal);
  return await removeAsked(rehearsal, scope.connection, { app, now: removal.now, remove });
}

/** The same on connections or in a transaction, without asking hooks: answers everything that was changed. */
export async function removeOn(
  scope: RecordScope,
  { access, id, now }: RecordRemoval,
): Promise<Removal> {
  refuseBuiltIn(scope.target);
  const rule = ruleOn(access, scope.target);
  if (!isUuid(id)) failMissing(id);
  try {
    const removal = await remove(scope, { id, rule, now });
    if (removal !== undefined) return removal;
  } catch (error) {
    throw refusalOf(error, scope.plan);
  }
  return await refuseHidden(scope, access, id);
}

/** One statement where nothing points to the collection. */
async function remove(
  { target, plan, connection }: RecordScope,
  request: RemovalRequest,
): Promise<Removal | undefined> {
  if (referrersOf(target.app, target.collection.id).length > 0) {
    return await connection.transaction((sql) => removeWithReferrers(sql, target, request));
  }
  const deleted = await connection.run((sql) => deleteRecord(sql, plan, request.id, request.rule));
  return deleted === undefined ? undefined : { deleted: [deleted], updated: [] };
}

/** Ends the request when nothing was written: the record is not there, or the rule does not admit it. */
async function refuseHidden(
  { plan, connection }: RecordScope,
  access: Access,
  id: string,
): Promise<never> {
  const found = await connection.run((sql) => lookAtRecord(sql, plan, id));
  return found === undefined ? failMissing(id) : refuse(access);
}
