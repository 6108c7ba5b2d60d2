// The calls of hook code to the server. They use the same features as requests, with the rights of an admin of their own app.
import type { CallTable } from '../../hook-runner/calls.ts';
import type { CallFrame } from '../../hook-runner/protocol.ts';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { failValidation, nullIfNotFound } from '../errors.ts';
import { toPageRequest } from '../contract/page-query.ts';
import type { RecordTarget } from '../records/collection.ts';
import { type AggregateQuery, aggregateRecords, type Aggregates } from '../records/aggregate.ts';
import { createRecord } from '../records/create.ts';
import { getRecord } from '../records/get.ts';
import { listRecords } from '../records/list.ts';
import { type PageMemory, withPageMemory } from '../records/page-memory.ts';
import { removeRecord } from '../records/remove.ts';
import { updateRecord } from '../records/update.ts';
import { unboundedAccess } from '../rules/access.ts';
import { requireCollection } from '../target.ts';
import { noteExceeded } from '../usage/quota.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import type { CallContext } from '../hooks/pool/generation.ts';
import { fetchForHook } from './fetch.ts';
import { deleteForHook, readForHook, storeForHook } from './files.ts';
import { sendForHook } from './mail.ts';
import { findOwnApp } from './own-app.ts';
import { publishForHook } from './publish.ts';
import { createUserForHook, findUserByEmailForHook, findUserForHook } from './users.ts';

interface CallScope {
  deps: Deps;
  app: AppDefinition;
  context: CallContext;
}

/** The longest list in bytes. The responses of one run may have less together, so that more need not be loaded. */
const maxListBytes = 4 * 1_048_576;

type Handlers = {
  [Method in keyof CallTable]: (scope: CallScope, ...args: CallTable[Method]['args']) => unknown;
};

const handlers: Handlers = {
  'records.findOne': async ({ deps, app }, coll, id) => {
    const target = targetOf(app, coll);
    const access = unboundedAccess('get', deps.now());
    const get = (memory: PageMemory) => getRecord(deps, target, { access, id, memory });
    return await withPageMemory(deps, app.workspace.id, get).catch(nullIfNotFound);
  },
  'records.list': ({ deps, app }, coll, { page, per_page, skip_total, ...query }) => {
    const access = unboundedAccess('list', deps.now());
    refuseBadPage({ page, per_page });
    const target = targetOf(app, coll);
    const asked = {
      ...query,
      access,
      page: toPageRequest({ page, per_page, skip_total }),
      maxBytes: maxListBytes,
    };
    return withPageMemory(
      deps,
      app.workspace.id,
      (memory) => listRecords(deps, target, { ...asked, memory }),
    );
  },
  'records.count': async ({ deps, app }, coll, { filter }) => {
    const { items: [all] } = await aggregate({ deps, app }, coll, { fn: 'count', filter });
    return all?.['count'];
  },
  'records.aggregate': ({ deps, app }, coll, query) => aggregate({ deps, app }, coll, query),
  'records.create': ({ deps, app, context }, coll, input) => {
    const now = deps.now();
    const access = unboundedAccess('create', now);
    return createRecord(deps, targetOf(app, coll), { access, input, now, caller: callerOf(context) });
  },
  'records.update': ({ deps, app, context }, coll, id, input) => {
    const now = deps.now();
    const access = unboundedAccess('update', now);
    return updateRecord(deps, targetOf(app, coll), { access, id, input, now, caller: callerOf(context) });
  },
  'records.delete': async ({ deps, app, context }, coll, id) => {
    const now = deps.now();
    const access = unboundedAccess('delete', now);
    await removeRecord(deps, targetOf(app, coll), { access, id, now, caller: callerOf(context) });
    return null;
  },
  'users.findOne': ({ deps, app }, id) => findUserForHook(deps, app, id),
  'users.findByEmail': ({ deps, app }, email) => findUserByEmailForHook(deps, app, email),
  'users.create': ({ deps, app }, user) => createUserForHook(deps, app, user),
  'files.get': ({ deps, app }, id) => readForHook(deps, app, id),
  'files.create': ({ deps, app }, file) => storeForHook(deps, app, file),
  'files.delete': ({ deps, app, context }, id) => deleteForHook(deps, app, { id, caller: callerOf(context) }),
  'mail.send': ({ deps, app }, mail) => sendForHook(deps, app, mail),
  'realtime.publish': ({ deps, app }, ...event) => publishForHook(deps, app, event),
  'fetch': ({ deps, app, context }, request) => fetchForHook(deps, app, { request, context }),
};

function aggregate(
  { deps, app }: Pick<CallScope, 'deps' | 'app'>,
  coll: string,
  query: Pick<AggregateQuery, 'fn' | 'group' | 'filter'>,
): Promise<Aggregates> {
  const asked = { ...query, access: unboundedAccess('list', deps.now()), maxBytes: maxListBytes };
  return withPageMemory(
    deps,
    app.workspace.id,
    (memory) => aggregateRecords(deps, targetOf(app, coll), { ...asked, memory }),
  );
}

/** Handles one call of an app. Throws `ApiError` and what the features throw. */
export async function handleCall(
  deps: Deps,
  app: AppIdentity,
  call: CallFrame,
  context: CallContext,
): Promise<unknown> {
  try {
    return await dispatch({ deps, app: await findOwnApp(deps, app), context }, call);
  } catch (error) {
    noteExceeded(deps, error, app.workspace.id);
    throw error;
  }
}

function dispatch(scope: CallScope, call: CallFrame): unknown {
  // `readMessage` has checked the arguments against the row of the method.
  const handler = handlers[call.method] as (scope: CallScope, ...args: readonly unknown[]) => unknown;
  return handler(scope, ...call.args);
}

/** The caller of a write by hook code. */
function callerOf({ requestId, depth, deadline, withoutSlot }: CallContext): RecordCaller {
  return { principal: null, requestId, hook: { depth: depth + 1, deadline, withoutSlot } };
}

function targetOf(app: AppDefinition, id: string): RecordTarget {
  return { app, collection: requireCollection(app, id) };
}

function refuseBadPage(members: Record<string, number | undefined>): void {
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      failValidation([{ field: name, reason: 'must be a whole number of at least 1' }]);
    }
  }
}
