// Concurrent writes of one record: their events come in the order in which they were committed.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBatch } from '../../../../api/records/batch.ts';
import { createRecord } from '../../../../api/records/create.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import { updateRecord } from '../../../../api/records/update.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import { type BareApp, bareApp, created, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('counters', [{ name: 'n', kind: 'number' }]);
  await app.define('marks', [relationTo('counters', 'counter', { cascade_delete: true }), {
    name: 'n',
    kind: 'number',
  }]);
});
afterAll(() => app.end());

/** A process whose first write ends 100 ms after its commit, and the events that it publishes. */
function slowAtFirst() {
  const told: [type: string, fields: unknown][] = [];
  const written = Promise.withResolvers<void>();
  let responses = 0;
  const deps: BareApp['deps'] = {
    ...app.deps,
    realtime: { publish: (_topic, { type, record }) => void told.push([type, record['fields']]) },
    quotas: {
      write: async (_app, _addition, work) => {
        const result = await work();
        if (responses++ > 0) return result;
        written.resolve();
        await pause(100);
        return result;
      },
    },
  };
  return { deps, told, written: written.promise };
}

type Deps = BareApp['deps'];
type Write = (deps: Deps, id: string, n: number) => Promise<unknown>;

const update: Write = async (deps, id, n) =>
  await updateRecord(deps, await app.target('counters'), {
    access: unboundedAccess('update', created),
    id,
    input: { n },
    now: created,
  });
const batch: Write = async (deps, id, n) =>
  await runBatch(deps, await app.definition(), {
    requests: [{ method: 'PATCH', collection: 'counters', id: id.toUpperCase(), body: { n } }],
    asking: { principal: app.by.principal, now: created, query: {} },
  });
const remove: Write = async (deps, id) =>
  await removeRecord(deps, await app.target('counters'), {
    access: unboundedAccess('delete', created),
    id,
    now: created,
  });

describe.each([
  ['two updates', update, update, ['record_updated', { n: 2 }]],
  ['an update and a batch', update, batch, ['record_updated', { n: 2 }]],
  ['a batch and an update', batch, update, ['record_updated', { n: 2 }]],
  ['a batch and a deletion', batch, remove, ['record_deleted', { n: 1 }]],
])('%s', (_title, first, second, last) => {
  it('are published in the order of their commits, though the first one ends later', async () => {
    const { id } = await app.create('counters', { n: 0 });
    const { deps, told, written } = slowAtFirst();
    const writing = first(deps, id, 1);
    await written;
    await Promise.all([writing, second(deps, id, 2)]);
    expect(told).toEqual([['record_updated', { n: 1 }], last]);
  });
});

const create = (chosen: boolean): Write => async (deps, id, n) =>
  await createRecord({ ...deps, newId: () => id }, await app.target('counters'), {
    access: unboundedAccess('create', created),
    input: chosen ? { id, n } : { n },
    now: created,
  });
const createInBatch = (chosen: boolean): Write => async (deps, id, n) =>
  await runBatch({ ...deps, newId: () => id }, await app.definition(), {
    requests: [{ method: 'POST', collection: 'counters', body: chosen ? { id, n } : { n } }],
    asking: { principal: app.by.principal, now: created, query: {} },
  });

describe.each<[string, Write]>([
  ['a create whose caller chose the id', create(true)],
  ['a create', create(false)],
  ['a create in a batch whose caller chose the id', createInBatch(true)],
  ['a create in a batch', createInBatch(false)],
])('%s', (_title, create) => {
  it('is published before a change that ends earlier', async () => {
    const id = randomUUID();
    const { deps, told, written } = slowAtFirst();
    const creating = create(deps, id, 1);
    await written;
    await Promise.all([creating, update(deps, id, 2)]);
    expect(told).toEqual([['record_created', { n: 1 }], ['record_updated', { n: 2 }]]);
  });
});

describe.each<[string, Write]>([
  ['a deletion', remove],
  ['a deletion in a batch', async (deps, id) =>
    await runBatch(deps, await app.definition(), {
      requests: [{ method: 'DELETE', collection: 'counters', id }],
      asking: { principal: app.by.principal, now: created, query: {} },
    })],
])('%s that deletes another record along with it', (_title, remove) => {
  it('is published after an earlier change of that one', async () => {
    const counter = await app.create('counters', { n: 0 });
    const { id } = await app.create('marks', { counter: counter.id, n: 0 });
    const { deps, told, written } = slowAtFirst();
    const changing = updateRecord(deps, await app.target('marks'), {
      access: unboundedAccess('update', created),
      id,
      input: { n: 1 },
      now: created,
    });
    await written;
    await Promise.all([changing, remove(deps, counter.id, 0)]);
    expect(told).toEqual([
      ['record_updated', { counter: counter.id, n: 1 }],
      ['record_deleted', { n: 0 }],
      ['record_deleted', { counter: counter.id, n: 1 }],
    ]);
  });
});

it('a deletion that ends late is published before the create of a record with the same id', async () => {
  const { id } = await app.create('counters', { n: 0 });
  const { workspace, schema } = await app.definition();
  const pool = app.deps.databases.app(workspace.database, schema);
  const transaction = pool.transaction.bind(pool);
  const done = Promise.withResolvers<void>();
  vi.spyOn(pool, 'transaction').mockImplementationOnce(async (work) => {
    const result = await transaction(work);
    done.resolve();
    await pause(100);
    return result;
  });
  const told: string[] = [];
  const realtime = { publish: (_topic: unknown, { type }: { type: string }) => void told.push(type) };
  const deps = { ...app.deps, realtime };
  const removing = remove(deps, id, 0);
  await done.promise;
  await Promise.all([removing, create(true)(deps, id, 1)]);
  expect(told).toEqual(['record_deleted', 'record_created']);
});
