// An app in an installation of its own, whose records are written by the features themselves: as HTTP would, but every
// change that a write reports can be looked at.
import { createApp } from '../../api/apps/create.ts';
import type { Caller } from '../../api/audit/actor.ts';
import { alterCollection } from '../../api/collections/alter.ts';
import { createDefinitions } from '../../api/collections/cache.ts';
import type { ChangeDeps } from '../../api/collections/change.ts';
import { createCollection } from '../../api/collections/create.ts';
import type { Removal } from '../../api/records/relations/cascade.ts';
import type { Deps } from '../../api/deps.ts';
import type { RecordTarget } from '../../api/records/collection.ts';
import { writeScope } from '../../api/records/write-context.ts';
import { commitWrite } from '../../api/records/write.ts';
import { createRecord } from '../../api/records/create.ts';
import { applyRemoval } from '../../api/records/remove.ts';
import { createRecords } from '../../api/records/build.ts';
import { updateRecord } from '../../api/records/update.ts';
import { PolicyCache } from '../../api/policies/cache.ts';
import { Revocations } from '../../api/auth/tokens/revocations.ts';
import { Passwords } from '../../api/auth/passwords/passwords.ts';
import type { EnrolDeps } from '../../api/records/enrol.ts';
import { unlimitedQuota } from '../../api/policies/quota-definitions.ts';
import type { WriteQuotas } from '../../api/usage/quotas.ts';
import type { RecordHooks } from '../../api/hooks/ports.ts';
import type { Publisher } from '../../api/realtime/ports.ts';
import { unboundedAccess } from '../../api/rules/access.ts';
import { createWorkspace } from '../../api/workspaces/create.ts';
import type { Storage } from '../../storage/boot/boot.ts';
import type { AppDefinition, Field } from '../../storage/definition.ts';
import { uuidV7Source } from '../../storage/sql/ids.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { planFor, type StoredRecord } from '../../storage/app/records/plan.ts';
import { countRecords, countStatement } from '../../storage/app/records/records.ts';
import { ownInstallation } from './database.ts';
import { hookSettings } from './hook-settings.ts';

/** The time of every create and update. */
export const created = new Date('2026-01-02T03:04:05.678Z');
/** The time of every deletion. */
export const later = new Date('2026-02-03T04:05:06.789Z');

/** What the features of an app need. */
export type BareDeps =
  & Parameters<typeof createWorkspace>[0]
  & Parameters<typeof createApp>[0]
  & ChangeDeps
  & Pick<Deps, 'recordCache' | 'secrets' | 'writeOrder' | 'hookOrder' | 'unheldFiles' | 'fileLinks'>
  & EnrolDeps
  & {
    config: { data_dir: string };
    realtime: Publisher;
    hooks: RecordHooks;
    quotas: WriteQuotas;
  };

/** What profiles are made with; no thread runs until there is a password. */
const enrolling: Pick<Deps, 'passwords' | 'policies'> & { quotas: WriteQuotas } = {
  quotas: { write: (_app, _addition, work) => work() },
  passwords: new Passwords(),
  policies: {
    range: (name) =>
      Promise.resolve({ min: 8, max: name.startsWith('quota.') ? unlimitedQuota : 256, value: 8 }),
    toggle: () => Promise.resolve(false),
    set: () => Promise.resolve(['password']),
  },
};

/** Of apps without hooks. */
const noHooks: RecordHooks = { getWriteHooks: () => Promise.resolve({ isEmpty: true, on: () => undefined }) };

/** What takes rights away in a process of its own on this storage. */
function bareRights(
  { databases }: Pick<Storage, 'databases'>,
  { now, newId }: Pick<Deps, 'now' | 'newId'>,
): Pick<Deps, 'policyCache' | 'revocations'> {
  const observe = () => undefined;
  return {
    policyCache: new PolicyCache(databases),
    revocations: new Revocations({ databases, now, newId, observe, maxTokenLifeMs: 1_000 }),
  };
}

/** What the features need, in a process of its own on this storage. */
export function bareDeps(storage: Storage, { now, newId }: Pick<Deps, 'now' | 'newId'>): BareDeps {
  const definitions = createDefinitions(storage);
  return {
    ...storage,
    definitions,
    ...createRecords({ definitions }),
    ...enrolling,
    ...bareRights(storage, { now, newId }),
    realtime: { publish: () => undefined },
    hooks: noHooks,
    config: { data_dir: '/nowhere', hooks: hookSettings('/nowhere/hooks') },
    observe: () => undefined,
    now,
    newId,
  };
}

/** The app. */
export interface BareApp {
  deps: BareDeps;
  /** Who changes collections. */
  by: Caller;
  definition(): Promise<AppDefinition>;
  target(collection: string): Promise<RecordTarget>;
  define(collection: string, fields: readonly Field[]): Promise<void>;
  alter(collection: string, fields: readonly Field[]): Promise<void>;
  create(collection: string, input?: Record<string, unknown>): Promise<StoredRecord>;
  change(collection: string, record: { id: string }, input: Record<string, unknown>): Promise<StoredRecord>;
  remove(collection: string, record: { id: string }): Promise<Removal>;
  count(collection: string): Promise<number>;
  /** Runs statements as the app's role. */
  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Drops everything. */
  end(): Promise<void>;
}

/** A field that points to a collection. */
export function relationTo(target: string, name: string, options: Partial<Field> = {}): Field {
  return { name, kind: 'relation', target, ...options };
}

/** Makes the app. */
export async function bareApp(): Promise<BareApp> {
  const own = await ownInstallation();
  const storage = await own.open();
  const newId = uuidV7Source(Date.now);
  const deps = bareDeps(storage, { now: () => created, newId });
  const by: Caller = {
    principal: { role: 'master_admin', id: newId(), jti: newId(), issuedAt: 0, expiresAt: 0 },
    origin: { requestId: 'test', ip: '127.0.0.1', userAgent: '' },
    now: created,
  };
  await createWorkspace(deps, { id: 'acme', name: 'Acme' }, by);
  const workspace = present(await deps.definitions.workspace('acme'));
  await createApp(deps, workspace, { id: 'shop', name: 'Shop', caller: by });
  return {
    ...featuresOf(deps, by),
    deps,
    by,
    end: async () => {
      await own.as({}, (sql) => sql`delete from control.workspaces`);
      await own.remove();
    },
  };
}

function featuresOf(deps: BareApp['deps'], by: Caller): Omit<BareApp, 'deps' | 'by' | 'end'> {
  const definition = async () => present(await deps.definitions.app('acme', 'shop'));
  const target = async (id: string) => {
    const app = await definition();
    return { app, collection: present(app.collections.get(id)) };
  };
  const run: BareApp['run'] = async (work) => {
    const { workspace, schema } = await definition();
    return await deps.databases.app(workspace.database, schema).run(work);
  };
  return {
    definition,
    target,
    run,
    define: async (id, fields) => {
      await createCollection(deps, await definition(), { declared: { id, fields }, by });
    },
    alter: async (id, fields) => {
      await alterCollection(deps, await definition(), { id, declared: { fields }, drop: true, by });
    },
    create: async (id, input = {}) => {
      const access = unboundedAccess('create', created);
      return await createRecord(deps, await target(id), { access, input, now: created });
    },
    change: async (collection, { id }, input) => {
      const access = unboundedAccess('update', created);
      return await updateRecord(deps, await target(collection), { access, id, input, now: created });
    },
    remove: async (collection, { id }) => {
      const removal = { access: unboundedAccess('delete', later), id, now: later };
      const place = await target(collection);
      const changes = [{ action: 'delete', collection, id }] as const;
      return await commitWrite(deps, place.app, { changes }, async (context) => {
        const result = await applyRemoval(writeScope(context, place), removal);
        return { result, written: [] };
      });
    },
    count: async (id) => {
      const { app, collection } = await target(id);
      const plan = planFor(app.schema, collection);
      const count = countStatement(plan, { restrictions: [], isAdHoc: false });
      return (await run((sql) => countRecords(sql, count))).total;
    },
  };
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('what the test works with is not there');
  return value;
}
