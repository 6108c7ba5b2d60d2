// When a record may be cached, and how many are.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RecordTarget } from '../../../../api/records/collection.ts';
import { type WriteSet, writeSetOf, writeSetOfUser } from '../../../../api/records/cache/write-set.ts';
import { CachedRecords } from '../../../../api/records/cache/cached-records.ts';
import { WriteTracker } from '../../../../api/records/cache/write-tracker.ts';
import type { AppDefinition, CollectionDefinition, Field } from '../../../../storage/definition.ts';
import { StorageError } from '../../../../storage/errors.ts';
import type { StoredRecord } from '../../../../storage/app/records/plan.ts';

function collectionOf(id: string, fields: Field[], kind: 'base' | 'auth' = 'base'): CollectionDefinition {
  return {
    id,
    kind,
    fields,
    indexes: [],
    rules: {},
    version: 1,
    created_at: new Date(0),
    updated_at: new Date(0),
  };
}

const image: Field = { name: 'image', kind: 'file' };
const author: Field = { name: 'author', kind: 'relation', target: 'authors' };
const collections = [
  collectionOf('notes', []),
  collectionOf('authors', []),
  collectionOf('posts', [author, image]),
  collectionOf('members', [], 'auth'),
];
const app: AppDefinition = {
  workspace: { id: 'acme', name: 'Acme', database: 'w_1', created_at: new Date(0), updated_at: new Date(0) },
  ...{ id: 'shop', name: 'Shop', schema: 'a_1', created_at: new Date(0), updated_at: new Date(0) },
  collections: new Map(collections.map((collection) => [collection.id, collection])),
};

function targetOf(id: string): RecordTarget {
  const collection = app.collections.get(id);
  if (collection === undefined) throw new Error(`there is no ${id}`);
  return { app, collection };
}

const notes = targetOf('notes');
const id = '01890000-0000-7000-8000-0000deadbeef';
const other = '01890000-0000-7000-8000-0000feedf00d';

const creating = ({ collection }: RecordTarget) =>
  writeSetOf(app, [{ action: 'create', collection: collection.id, id: undefined }]);
const changing = ({ collection }: RecordTarget, id: string) =>
  writeSetOf(app, [{ action: 'update', collection: collection.id, id }]);
const deleting = ({ collection }: RecordTarget, id: string) =>
  writeSetOf(app, [{ action: 'delete', collection: collection.id, id }]);

/** A cache over a database that gives another text each time that it is asked. */
async function cache({ most = 1_000_000 } = {}) {
  const state = { isCurrent: true, asked: 0, settling: Promise.resolve() };
  const tracker = new WriteTracker({ isCurrent: () => state.isCurrent, settled: () => state.settling });
  await state.settling;
  const records = new CachedRecords(tracker, most);
  const read = () => Promise.resolve(recordOf(String(++state.asked)));
  const find = async (target = notes, wanted = id, reading = read) =>
    (await records.find(target, wanted, reading))?.fields['title'];
  return {
    ...{ state, tracker, records, find },
    /** Reads it as often as it takes. */
    fill: async (target = notes, wanted = id) => {
      for (let reading = 0; reading < 2; reading++) await find(target, wanted);
    },
    write: (extent: WriteSet) => tracker.track(extent, () => Promise.resolve()),
  };
}

function recordOf(title: string): StoredRecord {
  return { id, collection: 'notes', fields: { title }, created_at: '', updated_at: '' };
}

describe('a record', () => {
  it('is cached when it is read for the second time', async () => {
    const { find } = await cache();
    expect([await find(), await find(), await find(), await find()]).toEqual(['1', '2', '2', '2']);
  });

  it('is not cached until writes of an earlier process have ended', async () => {
    const earlier = Promise.withResolvers<void>();
    const tracker = new WriteTracker({ isCurrent: () => true, settled: () => earlier.promise });
    const records = new CachedRecords(tracker);
    let asked = 0;
    const find = async () =>
      (await records.find(notes, id, () => Promise.resolve(recordOf(String(++asked)))))?.fields['title'];
    expect([await find(), await find(), await find()]).toEqual(['1', '2', '3']);
    earlier.resolve();
    await earlier.promise;
    expect([await find(), await find(), await find()]).toEqual(['4', '5', '5']);
  });

  it('of a user or profile is never cached, as each login changes what it shows', async () => {
    const { find } = await cache();
    const members = targetOf('members');
    expect([await find(members), await find(members), await find(members)]).toEqual(['1', '2', '3']);
  });

  it('that is not there is not cached as missing', async () => {
    const { records, find } = await cache();
    for (let reading = 0; reading < 3; reading++) {
      expect(await records.find(notes, id, () => Promise.resolve(undefined))).toBeUndefined();
    }
    expect(await find()).toBe('1');
  });

  it('that is long is not cached', async () => {
    const { find } = await cache();
    const read = (text: string) => () => Promise.resolve(recordOf(text.repeat(20_000)));
    for (const letter of ['a', 'b', 'c']) expect(await find(notes, id, read(letter))).toMatch(letter);
  });

  it('is neither given nor cached while it is written, nor when a write began as it was read', async () => {
    const { find, fill, tracker } = await cache();
    await fill();
    const written = Promise.withResolvers<void>();
    const write = tracker.track(changing(notes, id), () => written.promise);
    expect([await find(), await find()]).toEqual(['3', '4']);
    written.resolve();
    await write;
    expect([await find(), await find()]).toEqual(['5', '5']);
    const overtaken = await find(notes, other, async () => {
      await tracker.track(changing(notes, other), () => Promise.resolve());
      return recordOf('older');
    });
    expect([overtaken, await find(notes, other), await find(notes, other)]).toEqual(['older', '6', '6']);
  });

  it('is not given while a write may take effect whose end was never reported', async () => {
    for (
      const extent of [changing(notes, other), deleting(notes, other), writeSetOfUser('w_1')]
    ) {
      const { find, fill, state, tracker } = await cache();
      await fill();
      const settled = Promise.withResolvers<void>();
      state.settling = settled.promise;
      const lost = tracker.track(extent, () => Promise.reject(new StorageError('unavailable', 'lost')));
      await expect(lost).rejects.toThrow('lost');
      expect([await find(), await find()]).toEqual(['3', '4']);
      settled.resolve();
      await settled.promise;
      expect(await find()).toBe(extent.app === undefined ? '5' : '2');
    }
  });

  it('is given on when a write was refused', async () => {
    const { find, fill, tracker } = await cache();
    await fill();
    const refused = tracker.track(changing(notes, other), () => Promise.reject(new Error('refused')));
    await expect(refused).rejects.toThrow('refused');
    expect(await find()).toBe('2');
  });

  it('is read again after what may have been a write of any record', async () => {
    const everything: WriteSet[] = [
      deleting(targetOf('authors'), other),
      writeSetOf(app, [{ action: 'delete_file' }]),
      writeSetOfUser('w_1'),
    ];
    for (const extent of everything) {
      const { find, fill, write } = await cache();
      await fill();
      await write(extent);
      expect(await find()).toBe('3');
    }
    const { find, fill, write } = await cache();
    await fill();
    for (
      const extent of [creating(notes), changing(notes, other), deleting(notes, other)]
    ) {
      await write(extent);
    }
    await write(writeSetOfUser('w_2'));
    expect(await find()).toBe('2');
  });

  it('is read again after a write during which its app was declared anew', async () => {
    const { find, fill, write, state } = await cache();
    await fill();
    state.isCurrent = false;
    await write(deleting(notes, other));
    expect(await find()).toBe('3');
  });

  it('is another one in another app, collection or declaration', async () => {
    const { find, fill } = await cache();
    await fill();
    await fill({ app, collection: collectionOf('notes', []) });
    expect(await find()).toBe('4');
    await find();
    await fill(targetOf('posts'));
    expect(await find({ app: { ...app, schema: 'a_2' }, collection: notes.collection })).not.toBe(
      await find(),
    );
  });
});

describe('the cache of records', () => {
  it('stays within its bound, and what is used stays longest', async () => {
    const { find, fill, state } = await cache({ most: 10_000 });
    await fill();
    const ids = Array.from({ length: 200 }, () => randomUUID());
    for (const each of ids) {
      await fill(notes, each);
      expect(await find()).toBe('2');
    }
    const before = state.asked;
    for (const each of ids.toReversed()) await find(notes, each);
    expect(state.asked - before).toBeGreaterThan(150);
    expect(state.asked - before).toBeLessThan(200);
  });

  it('counts what a record takes that has many fields, and nothing in them', async () => {
    const { find, state } = await cache({ most: 1_000_000 });
    const names = Array.from({ length: 500 }, (_unused, place) => `field_${place}`);
    const wide = collectionOf('wide', names.map((name) => ({ name, kind: 'number' })));
    const read = () => {
      state.asked++;
      return Promise.resolve({
        ...recordOf(''),
        fields: Object.fromEntries(names.map((name) => [name, null])),
      });
    };
    const ids = Array.from({ length: 100 }, () => randomUUID());
    for (const each of [...ids, ...ids]) await find({ app, collection: wide }, each, read);
    const before = state.asked;
    for (const each of ids.toReversed()) await find({ app, collection: wide }, each, read);
    // V8 takes some 20 KB for each.
    expect(ids.length - (state.asked - before)).toBeLessThan(50);
  });
});
