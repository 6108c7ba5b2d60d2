// Writes of one record at once: what is told of them comes in the order in which they happened.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBatch } from '../../../api/records/batch.ts';
import { createRecord } from '../../../api/records/create.ts';
import { removeRecord } from '../../../api/records/remove.ts';
import { updateRecord } from '../../../api/records/update.ts';
import { WriteOrder } from '../../../api/records/write-order.ts';
import { unboundedAccess } from '../../../api/rules/access.ts';
import { type BareApp, bareApp, created, relationTo } from '../../harness/bare-app.ts';

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

/** A process whose first write has its answer from PostgreSQL later than another may have its own, and what it tells. */
function slowAtFirst() {
  const told: [type: string, fields: unknown][] = [];
  const written = Promise.withResolvers<void>();
  let answers = 0;
  const deps: BareApp['deps'] = {
    ...app.deps,
    realtime: { publish: (_topic, { type, record }) => void told.push([type, record['fields']]) },
    quotas: {
      write: async (_app, _addition, work) => {
        const result = await work();
        if (answers++ > 0) return result;
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
  it('are told of in the order in which they were done, though the first one is answered later', async () => {
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
  it('is told of before a change that is answered earlier', async () => {
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
])('%s that takes another record along', (_title, remove) => {
  it('is told of after a change of that one that was done before', async () => {
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

it('a deletion that is answered late is told of before a record that is made anew under its id', async () => {
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

describe('the order of writes', () => {
  it('keeps nobody who writes other records, and goes on after a failure', async () => {
    const order = new WriteOrder();
    const done: string[] = [];
    const blocked = Promise.withResolvers<void>();
    const note = (name: string) => () => Promise.resolve(void done.push(name));
    const failing = order.inTurn(['a', 'b'], () => blocked.promise);
    const waiting = ['b', 'a', 'b'].map((place, index) => order.inTurn([place], note(`${place}${index}`)));
    await order.inTurn(['c'], note('c'));
    expect(done).toEqual(['c']);
    blocked.reject(new Error('failed'));
    await expect(failing).rejects.toThrow('failed');
    await Promise.all(waiting);
    expect(done).toHaveLength(4);
    expect(done.filter((name) => name.startsWith('b'))).toEqual(['b0', 'b2']);
  });

  it('lets two who want the same places in different orders, or one of them twice, both go', async () => {
    const order = new WriteOrder();
    const done: number[] = [];
    const began = performance.now();
    await Promise.all(
      [['a', 'b'], ['b', 'a'], ['a', 'a']].map((places, index) =>
        order.inTurn(places, async () => {
          await pause(1);
          done.push(index);
        })
      ),
    );
    expect(done).toEqual([0, 1, 2]);
    // Nobody has waited in vain, least of all for itself.
    expect(performance.now() - began).toBeLessThan(900);
  });

  it('waits for a slow one no longer than a second, and still comes after those that waited before', async () => {
    const order = new WriteOrder();
    const slow = Promise.withResolvers<string>();
    const first = order.inTurn(['a'], () => slow.promise);
    const began = performance.now();
    await order.inTurn(['a'], () => Promise.resolve());
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    const next = order.inTurn(['a'], () => Promise.resolve('next'));
    slow.resolve('slow');
    expect(await Promise.race([first, next])).toBe('slow');
    expect(await next).toBe('next');
    // Nobody has the place any more, so the next one begins at once.
    let hasBegun = false;
    const begun = order.inTurn(['a'], () => {
      hasBegun = true;
      return Promise.resolve();
    });
    expect(hasBegun).toBe(true);
    await begun;
  });
});
