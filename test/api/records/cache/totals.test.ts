// Cached totals: they are never wrong, whatever is written beside them, and they are cached.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alterCollection } from '../../../../api/collections/alter.ts';
import type { Deps } from '../../../../api/deps.ts';
import { createRecord } from '../../../../api/records/create.ts';
import { listRecords } from '../../../../api/records/list.ts';
import { removeRecord } from '../../../../api/records/remove.ts';
import type { ReadSet } from '../../../../api/records/cache/read-set.ts';
import { TrackedTotals } from '../../../../api/records/cache/totals.ts';
import { updateRecord } from '../../../../api/records/update.ts';
import { WriteTracker } from '../../../../api/records/cache/write-tracker.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import type { Field } from '../../../../storage/definition.ts';
import { StorageError } from '../../../../storage/errors.ts';
import type { CountStatement } from '../../../../storage/app/records/records.ts';
import { type BareApp, bareApp, relationTo } from '../../../harness/bare-app.ts';
import { soleWriter } from '../../../harness/sole-writer.ts';

let app: BareApp;
let deps: BareApp['deps'];

const now = new Date();
const access = unboundedAccess('list', now);

beforeAll(async () => {
  app = await bareApp();
  deps = soleWriter(app.deps);
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
  await app.define('posts', [
    { name: 'title', kind: 'text' },
    relationTo('authors', 'author', { cascade_delete: true }),
  ]);
});
afterAll(() => app.end());

async function total(collection: string, filter?: string): Promise<number> {
  const page = { page: 1, per_page: 1, count: true };
  return (await listRecords(deps, await app.target(collection), { access, page, filter })).total_items;
}

async function create(collection: string, input: Record<string, unknown>): Promise<string> {
  return (await createRecord(deps, await app.target(collection), { access, input, now })).id;
}

async function remove(collection: string, id: string): Promise<void> {
  await removeRecord(deps, await app.target(collection), { access, id, now });
}

async function change(collection: string, id: string, input: Record<string, unknown>): Promise<void> {
  await updateRecord(deps, await app.target(collection), { access, id, input, now });
}

describe('a cached total', () => {
  it('is not asked for again, until a record is written', async () => {
    const { schema } = await app.definition();
    for (const title of ['a', 'b']) await create('posts', { title });
    expect(await total('posts')).toBe(2);
    // Nobody but the process itself writes to its cluster; a record that comes by another way shows what is cached.
    await app.run((sql) =>
      sql.unsafe(
        `insert into "${schema}"."posts" (id, title, created_at, updated_at)
         values (gen_random_uuid(), 'c', now(), now())`,
      )
    );
    expect(await total('posts')).toBe(2);
    const id = await create('posts', { title: 'd' });
    expect(await total('posts')).toBe(4);
    await remove('posts', id);
    expect(await total('posts')).toBe(3);
  });

  it('follows changes of what a filter looks at, here and behind relations', async () => {
    const author = await create('authors', { name: 'Ada' });
    const ids = [
      await create('posts', { title: 'x', author }),
      await create('posts', { title: 'x', author }),
    ];
    expect(await total('posts', 'title = "x"')).toBe(2);
    expect(await total('posts', 'author.name = "Ada"')).toBe(2);
    await change('posts', ids[0] ?? '', { title: 'y' });
    expect(await total('posts', 'title = "x"')).toBe(1);
    await change('authors', author, { name: 'Ida' });
    expect(await total('posts', 'author.name = "Ada"')).toBe(0);
    expect(await total('posts', 'author.name = "Ida"')).toBe(2);
    await remove('authors', author);
    expect(await total('posts', 'author.name = "Ida"')).toBe(0);
    expect(await total('posts', 'title = "x"')).toBe(0);
  });

  it('follows a field that is dropped and made again', async () => {
    const author = await create('authors', { name: 'Eve' });
    for (let n = 0; n < 2; n++) await create('posts', { title: 'z', author });
    expect(await total('posts', 'author.name = "Eve"')).toBe(2);
    const name: Field = { name: 'name', kind: 'text' };
    for (const fields of [[], [name]]) {
      await alterCollection(deps, await app.definition(), {
        id: 'authors',
        declared: { fields },
        drop: true,
        by: app.by,
      });
    }
    expect(await total('posts', 'author.name = "Eve"')).toBe(0);
  });

  it('is never wrong while many write', { timeout: 30_000 }, async () => {
    await app.define('busy', [{ name: 'title', kind: 'text' }]);
    const kept = await Promise.all([1, 2, 3].map(() => create('busy', { title: 'kept' })));
    const tally = { begun: kept.length, made: kept.length, leaving: 0, left: 0 };
    let writing = true;
    const writer = async () => {
      for (let n = 0; n < 60; n++) {
        tally.begun++;
        const id = await create('busy', { title: 'w' });
        tally.made++;
        if (n % 3 === 0) await change('busy', id, { title: 'changed' });
        if (n % 2 === 0) continue;
        tally.leaving++;
        await remove('busy', id);
        tally.left++;
      }
    };
    let reads = 0;
    const reader = async () => {
      while (writing) {
        const before = { ...tally };
        const seen = await total('busy');
        expect(seen).toBeGreaterThanOrEqual(before.made - tally.leaving);
        expect(seen).toBeLessThanOrEqual(tally.begun - before.left);
        reads++;
      }
    };
    const readers = Promise.all([reader(), reader(), reader()]);
    await Promise.all([writer(), writer(), writer(), writer()]);
    writing = false;
    await readers;
    expect(reads).toBeGreaterThan(50);
    expect(await total('busy')).toBe(tally.made - tally.left);
    expect(await app.count('busy')).toBe(tally.made - tally.left);
  });
});

describe('TrackedTotals', () => {
  const count: CountStatement = { text: 'a count', params: [], prepare: true };
  const readSet: ReadSet = { isTracked: true, tables: ['users', 'posts'], versions: '1' };
  const list = { count, readSet, snapshot: undefined };

  async function counter() {
    const state = { settling: Promise.resolve() };
    const tracker = new WriteTracker({ isCurrent: () => true, settled: () => state.settling });
    await state.settling;
    const totals = new TrackedTotals(tracker);
    let asked = 0;
    const ask = () => Promise.resolve({ total: ++asked, snapshot: '' });
    const during = <Result>(name: string, write: () => Promise<Result>) =>
      tracker.track({ names: [name], ids: [] }, write);
    return { state, totals, during, read: () => totals.get(list, ask), ask };
  }

  it('neither gives nor takes a total while a write is under way, nor one that a write began in', async () => {
    const { totals, during, read } = await counter();
    await read();
    let end: () => void = () => undefined;
    const write = during('posts', () => new Promise<void>((resolve) => end = resolve));
    expect([await read(), await read()]).toEqual([2, 3]);
    end();
    await write;
    expect([await read(), await read()]).toEqual([4, 4]);
    await during('posts', () => Promise.resolve());
    const overtaken = await totals.get(list, async () => {
      await during('users', () => Promise.resolve());
      return { total: 100, snapshot: '' };
    });
    expect([overtaken, await read(), await read()]).toEqual([100, 5, 5]);
  });

  it('waits for a write whose end was never reported', async () => {
    const { state, during, read } = await counter();
    const settled = Promise.withResolvers<void>();
    state.settling = settled.promise;
    const lost = during('posts', () => Promise.reject(new StorageError('unavailable', 'lost')));
    await expect(lost).rejects.toThrow('lost');
    expect([await read(), await read()]).toEqual([1, 2]);
    settled.resolve();
    await settled.promise;
    expect([await read(), await read()]).toEqual([3, 3]);
  });

  it('tells other tables, versions and parameters apart, and caches nothing without a read set', async () => {
    const { totals, during, read, ask } = await counter();
    const long = { ...count, params: ['x'.repeat(3_000)] };
    expect(await read()).toBe(1);
    await during('elsewhere', () => Promise.resolve());
    expect(await read()).toBe(1);
    expect(await totals.get({ ...list, readSet: { ...readSet, versions: '2' } }, ask)).toBe(2);
    expect(await totals.get({ ...list, count: { ...count, params: ['x'] } }, ask)).toBe(3);
    expect(await totals.get({ ...list, readSet: undefined }, ask)).toBe(4);
    expect(await totals.get({ ...list, count: long }, ask)).toBe(5);
    expect(await totals.get({ ...list, count: long }, ask)).toBe(6);
    expect(await read()).toBe(1);
  });
});

it('a total is never less than the records that a page shows, though they are gone when it is counted', async () => {
  await app.define('fleeting', []);
  const ids = [await create('fleeting', {}), await create('fleeting', {}), await create('fleeting', {})];
  const recordCache: Deps['recordCache'] = {
    ...deps.recordCache,
    total: () => ({
      needsSnapshot: false,
      get: async (_list, countNow) => {
        for (const id of ids) await app.remove('fleeting', { id });
        return (await countNow()).total;
      },
    }),
  };
  const page = { page: 2, per_page: 1, count: true };
  const list = await listRecords({ ...deps, recordCache }, await app.target('fleeting'), { access, page });
  expect(list.items.map(({ id }) => id)).toEqual([ids[1]]);
  expect(list).toMatchObject({ total_items: 2, total_pages: 2 });
});
