// Cached records while their collections are changed, and while many write them.
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../../api/apps/create.ts';
import { removeApp } from '../../../../api/apps/remove.ts';
import { alterCollection } from '../../../../api/collections/alter.ts';
import { createCollection } from '../../../../api/collections/create.ts';
import { dropCollection } from '../../../../api/collections/drop.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import type { Pool, Sql } from '../../../../storage/connections/pool.ts';
import type { Field } from '../../../../storage/definition.ts';
import { StorageError } from '../../../../storage/errors.ts';
import { relationTo } from '../../../harness/bare-app.ts';
import { type CachingApp, cachingApp } from '../../../harness/caching-app.ts';

const title: Field = { name: 'title', kind: 'text' };
let own: CachingApp;

beforeAll(async () => {
  own = await cachingApp();
  await own.app.define('notes', [title]);
});
afterAll(() => own.app.end());

const missing = { code: 'not_found' };

describe('a cached record of a collection that is changed', () => {
  it('has the fields of now', async () => {
    await own.app.define('moving', [title]);
    const id = await own.create('moving', { title: 'a' });
    await own.cache('moving', id);
    const fields = [title, { name: 'more', kind: 'number' } as const];
    await alterCollection(own.deps, await own.app.definition(), {
      ...{ id: 'moving', declared: { fields }, drop: false, by: own.app.by },
    });
    expect((await own.get('moving', id)).fields).toEqual({ title: 'a', more: null });
    await own.cache('moving', id);
    for (const declared of [{ fields: [] }, { fields: [title] }]) {
      await alterCollection(own.deps, await own.app.definition(), {
        id: 'moving',
        declared,
        drop: true,
        by: own.app.by,
      });
    }
    expect((await own.get('moving', id)).fields).toEqual({ title: null });
  });

  it('is not that of another one by its name', async () => {
    const declared = { id: 'again', fields: [title] };
    await createCollection(own.deps, await own.app.definition(), { declared, by: own.app.by });
    const id = await own.create('again', { title: 'first' });
    await own.cache('again', id);
    await dropCollection(own.deps, await own.app.definition(), { id: 'again', by: own.app.by });
    await createCollection(own.deps, await own.app.definition(), { declared, by: own.app.by });
    await expect(own.get('again', id)).rejects.toMatchObject(missing);
    await own.create('again', { id, title: 'second' });
    expect((await own.get('again', id)).fields).toEqual({ title: 'second' });
    // Ids may be the same in two collections.
    await own.create('notes', { id, title: 'elsewhere' });
    await own.cache('notes', id);
    expect((await own.get('again', id)).fields).toEqual({ title: 'second' });
  });
});

/** Loses the connection of the next transaction once that is committed. */
function loseNextResponse(pool: Pool): void {
  const transaction = pool.transaction.bind(pool);
  pool.transaction = async <Result>(work: (sql: Sql) => Promise<Result>) => {
    pool.transaction = transaction;
    await transaction(work);
    throw new StorageError('unavailable', 'the connection was lost');
  };
}

it('a cached record of an app is not that of another one by its id, though its deletion was not noticed', async () => {
  const { app, deps, ...records } = await cachingApp();
  try {
    await app.define('notes', [title]);
    const id = await records.create('notes', { title: 'of the first' });
    await records.cache('notes', id);
    const first = await app.definition();
    loseNextResponse(deps.databases.provisioner(first.workspace.database));
    const unheeded = { hooks: { drop: () => undefined }, blobs: new LocalBlobs('/nowhere') };
    await expect(removeApp({ ...deps, ...unheeded }, first, app.by)).rejects.toThrow('lost');
    await createApp(deps, first.workspace, { id: first.id, name: 'Second', caller: app.by });
    await expect(records.get('notes', id)).rejects.toThrow('not there');
  } finally {
    await app.end();
  }
});

it(
  'a record that is read is never older than the last write that was answered',
  { timeout: 30_000 },
  async () => {
    await own.app.define('counters', [{ name: 'value', kind: 'number' }, relationTo('notes', 'note')]);
    const counters = await Promise.all([0, 1, 2].map(() => own.create('counters', { value: 0 })));
    const answered = counters.map(() => 0);
    let writing = true;
    let reads = 0;
    const writer = async (place: number) => {
      for (let value = 1; value <= 80; value++) {
        // Some of the writes are of everything in the app.
        const note = value % 9 === 0 ? await own.create('notes', { title: 'held' }) : undefined;
        await own.change('counters', counters[place] ?? '', { value, note: note ?? null });
        answered[place] = value;
        if (note !== undefined) await own.remove('notes', note);
      }
    };
    const reader = async (place: number) => {
      while (writing) {
        const before = answered[place] ?? 0;
        const { fields: { value } } = await own.get('counters', counters[place] ?? '');
        expect(value).toBeGreaterThanOrEqual(before);
        expect(value).toBeLessThanOrEqual((answered[place] ?? 0) + 1);
        reads++;
        // A cached record needs no turn of the event loop, which the writers wait for.
        await turn();
      }
    };
    const readers = Promise.all([0, 1, 2, 0, 1, 2].map(reader));
    await Promise.all([0, 1, 2].map(writer));
    writing = false;
    await readers;
    expect(reads).toBeGreaterThan(100);
    const last = await Promise.all(counters.map((id) => own.get('counters', id)));
    expect(last.map(({ fields: { value } }) => value)).toEqual([80, 80, 80]);
  },
);
