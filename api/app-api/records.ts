// The calls of `$app` about records, of the app itself and of the callers that it acts for.
import type { CallTable, ListQuery } from '../../hook-runner/calls.ts';
import { check } from '../contract/check.ts';
import { toPageRequest } from '../contract/page-query.ts';
import { failValidation, nullIfNotFound } from '../errors.ts';
import { type AggregateQuery, aggregateRecords, type Aggregates } from '../records/aggregate.ts';
import { runBatch } from '../records/batch.ts';
import type { RecordTarget } from '../records/collection.ts';
import { createRecord } from '../records/create.ts';
import { getRecord } from '../records/get.ts';
import { batchBody, requestName } from '../records/input/batch-requests.ts';
import { withErrorPrefix } from '../records/input/error-prefix.ts';
import { listRecords, type RecordPage } from '../records/list.ts';
import { type PageMemory, withPageMemory } from '../records/page-memory.ts';
import { removeRecord } from '../records/remove.ts';
import { updateRecord } from '../records/update.ts';
import { upsertRecord } from '../records/upsert/upsert.ts';
import { requireCollection } from '../target.ts';
import { actingFor, type CallScope } from './acting.ts';
import { refuseRounded } from './rounded.ts';

/** The longest list in bytes. The responses of one run may have less together, so that more need not be loaded. */
const maxListBytes = 4 * 1_048_576;

type RecordMethod = Extract<keyof CallTable, `records.${string}` | 'batch'>;

/** The handlers of these calls: they do what the requests of the same names do. */
export const recordCalls: {
  [Method in RecordMethod]: (scope: CallScope, ...args: CallTable[Method]['args']) => unknown;
} = {
  'records.findOne': async (scope, coll, id) => {
    const { deps, app } = scope;
    const target = targetOf(scope, coll);
    const access = await (await actingFor(scope)).admit(target, 'get');
    const get = (memory: PageMemory) => getRecord(deps, target, { access, id, memory });
    return await withPageMemory(deps, app.workspace.id, get).catch(nullIfNotFound);
  },
  'records.list': (scope, coll, query) => list(scope, coll, query),
  'records.count': async (scope, coll, { filter }) => {
    const { items: [all] } = await aggregate(scope, coll, { fn: 'count', filter });
    return all?.['count'];
  },
  'records.aggregate': (scope, coll, query) => aggregate(scope, coll, query),
  'records.create': async (scope, coll, input, { on_conflict: onConflict }) => {
    const { deps } = scope;
    const target = targetOf(scope, coll);
    const { admit, caller } = await actingFor(scope);
    const creation = { access: await admit(target, 'create'), input, now: deps.now(), caller };
    if (onConflict === undefined) return await createRecord(deps, target, creation);
    const admitUpdate = () => admit(target, 'update');
    return (await upsertRecord(deps, target, { ...creation, onConflict, admitUpdate })).record;
  },
  'records.update': async (scope, coll, id, input) => {
    const { deps } = scope;
    const target = targetOf(scope, coll);
    const acting = await actingFor(scope);
    const access = await acting.admit(target, 'update');
    await refuseRounded(scope, acting, target, { id, input });
    const { caller } = acting;
    return await updateRecord(deps, target, { access, id, input, now: deps.now(), caller });
  },
  'records.delete': async (scope, coll, id) => {
    const { deps } = scope;
    const target = targetOf(scope, coll);
    const { admit, caller } = await actingFor(scope);
    const access = await admit(target, 'delete');
    await removeRecord(deps, target, { access, id, now: deps.now(), caller });
    return null;
  },
  'batch': async (scope, requests) => {
    const { deps, app } = scope;
    const body = check({ requests }, batchBody);
    const acting = await actingFor(scope);
    const { principal, isUnbounded, caller } = acting;
    for (const [index, { method, collection, id, body: input }] of body.requests.entries()) {
      if (method !== 'PATCH' || id === undefined || input === undefined) continue;
      await withErrorPrefix(
        requestName(index),
        () => refuseRounded(scope, acting, targetOf(scope, collection), { id, input }),
      );
    }
    const asking = { principal, now: deps.now(), query: {} };
    return await runBatch(deps, app, { ...body, asking, isUnbounded, caller });
  },
};

async function list(
  scope: CallScope,
  coll: string,
  query: ListQuery,
): Promise<RecordPage> {
  const { deps, app } = scope;
  const { page, per_page, skip_total, ...others } = query;
  const target = targetOf(scope, coll);
  const access = await (await actingFor(scope)).admit(target, 'list', { ...query });
  refuseBadPage({ page, per_page });
  const asked = {
    ...others,
    access,
    page: toPageRequest({ page, per_page, skip_total }),
    maxBytes: maxListBytes,
  };
  return await withPageMemory(
    deps,
    app.workspace.id,
    (memory) => listRecords(deps, target, { ...asked, memory }),
  );
}

async function aggregate(
  scope: CallScope,
  coll: string,
  query: Pick<AggregateQuery, 'fn' | 'group' | 'filter'>,
): Promise<Aggregates> {
  const { deps, app } = scope;
  const target = targetOf(scope, coll);
  const access = await (await actingFor(scope)).admit(target, 'list', { ...query });
  const asked = { ...query, access, maxBytes: maxListBytes };
  return await withPageMemory(
    deps,
    app.workspace.id,
    (memory) => aggregateRecords(deps, target, { ...asked, memory }),
  );
}

function targetOf({ app }: CallScope, id: string): RecordTarget {
  return { app, collection: requireCollection(app, id) };
}

function refuseBadPage(members: Record<string, number | undefined>): void {
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      failValidation([{ field: name, reason: 'must be a whole number of at least 1' }]);
    }
  }
}
