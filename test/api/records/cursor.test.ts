// Cursors: pages that go on exactly where the one before has ended, in any order and under writes.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title, titlesOf } from '../../harness/scenario.ts';

let made: Scenario;
let admin: Caller;
let things: string;

const fields = [
  { name: 'word', kind: 'text', index: true },
  { name: 'n', kind: 'number', index: true },
  { name: 'flag', kind: 'bool' },
  { name: 'seen', kind: 'datetime' },
  { name: 'mail', kind: 'email' },
  { name: 'state', kind: 'select', options: ['b', 'a'] },
  { name: 'data', kind: 'json' },
  { name: 'twin', kind: 'relation', target: 'things' },
];

/** Values of each field: each is there several times, and so is none. */
const values: Record<string, readonly unknown[]> = {
  word: ['', 'a', 'é', '\uffff', '😀', null],
  n: [0.1, 0.30000000000000004, -1e300, 5e-324, 7, null, null],
  flag: [true, false, null],
  seen: ['0099-01-01T00:00:00.001Z', '2026-01-01T00:00:00Z', null, '2026-01-01T00:00:00.001Z'],
  mail: ['b@example.com', 'a@example.com', null],
  state: ['a', null, 'b', 'b', null],
  data: [{ a: 1.5 }, [], 'x', 1, null, { b: [true] }, false],
};

beforeAll(async () => {
  made = await scenario({ collections: { things: fields } });
  ({ admin } = made);
  things = made.records('things');
  let twin: string | null = null;
  for (let at = 0; at < 36; at++) {
    const chosen = Object.entries(values).map(([name, of]) => [name, of[at * 7 % 13 % of.length] ?? null]);
    const id = await made.make(things, { ...Object.fromEntries(chosen), twin });
    twin = at % 5 === 0 ? id : at % 3 === 0 ? null : twin;
  }
});

/** The ids of all pages of a list, which end with a null. */
async function walk(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor = '';
  for (;;) {
    const page = expectOk(await admin.get(`${things}?${query}${cursor}`));
    pages.push(page.items.map(({ id }: { id: string }) => id));
    expect(page.page).toBe(pages.length);
    if (page.next_cursor === null) return pages;
    expect(page.next_cursor).toMatch(/^[\w-]+$/);
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const idsOf = async (query: string) =>
  expectOk(await admin.get(`${things}?per_page=200&${query}`)).items.map(({ id }: { id: string }) => id);

describe('the pages of a cursor', () => {
  const names = [...Object.keys(values), 'twin', 'id', 'created_at', 'updated_at'];
  const one = names.flatMap((name) => [name, `-${name}`]);
  const several = [
    'flag,-n',
    '-flag,n,-word',
    'state,seen',
    '-data,-flag',
    '-twin,state,-created_at',
    'n,n',
    'n,-n',
  ];

  it.each(['', ...one, ...several])('are the list, whole and in order: sort=%s', async (sort) => {
    const all = await idsOf(`sort=${sort}`);
    expect(all).toHaveLength(36);
    for (const size of [5, 12]) {
      const pages = await walk(`sort=${sort}&per_page=${size}&skip_total=true`);
      expect(pages.flat()).toEqual(all);
      expect(pages.map(({ length }) => length)).toEqual(
        Array.from({ length: Math.ceil(36 / size) }, (_, page) => Math.min(size, 36 - page * size)),
      );
    }
  });

  it('may change their size, and have a filter, fields and totals', async () => {
    const query = `sort=-n&filter=flag=null&fields=word`;
    const all = await idsOf(query);
    const first = expectOk(await admin.get(`${things}?${query}&per_page=2`));
    const second = expectOk(await admin.get(`${things}?${query}&per_page=3&cursor=${first.next_cursor}`));
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all.slice(0, 5));
    expect(Object.keys(second.items[0].fields)).toEqual(['word']);
    expect(second).toMatchObject({ page: 2, per_page: 3, total_items: all.length });
    const rest = expectOk(await admin.get(`${things}?${query}&skip_total=true&cursor=${second.next_cursor}`));
    expect(rest).toMatchObject({ page: 3, total_items: -1, total_pages: -1, next_cursor: null });
    expect(rest.items).toHaveLength(all.length - 5);
  });

  it('go on from a page by its number, too', async () => {
    const all = await idsOf('sort=word');
    const third = expectOk(await admin.get(`${things}?sort=word&page=3&per_page=5`));
    const fourth = expectOk(await admin.get(`${things}?sort=word&per_page=5&cursor=${third.next_cursor}`));
    expect(fourth.page).toBe(4);
    expect(fourth.items.map(({ id }: { id: string }) => id)).toEqual(all.slice(15, 20));
  });
});

describe('under writes', () => {
  it('a cursor shows every record that stays once, whatever comes, goes or moves before and behind it', async () => {
    const lines = await made.define('lines', [title, { name: 'rank', kind: 'number' }]);
    const ids = new Map<string, string>();
    const add = async (name: string, rank: number | null) =>
      ids.set(name, await made.make(lines, { title: name, rank }));
    for (const [name, rank] of [['a', 1], ['b', 2], ['c', 2], ['d', 3], ['e', null], ['f', null]] as const) {
      await add(name, rank);
    }
    const next = async (cursor: string) => {
      const response = await admin.get(`${lines}?sort=rank&per_page=2&cursor=${cursor}`);
      return { titles: titlesOf(response), cursor: String(response.body.next_cursor) };
    };
    const start = await admin.get(`${lines}?sort=rank&per_page=2`);
    expect(titlesOf(start)).toEqual(['a', 'b']);
    // The record at which the page has ended goes, others come before it, beside it and behind it.
    expectOk(await admin.delete(`${lines}/${ids.get('b')}`));
    await add('before', 0);
    await add('beside', 2);
    await add('behind', 4);
    let page = await next(start.body.next_cursor);
    expect(page.titles).toEqual(['c', 'beside']);
    // One that was shown moves ahead, and one that was not moves to the records without a value.
    expectOk(await admin.patch(`${lines}/${ids.get('beside')}`, { rank: 1 }));
    expectOk(await admin.patch(`${lines}/${ids.get('d')}`, { rank: null }));
    page = await next(page.cursor);
    expect(page.titles).toEqual(['behind', 'd']);
    await add('last', null);
    page = await next(page.cursor);
    expect(page.titles).toEqual(['e', 'f']);
    expect(await next(page.cursor)).toEqual({ titles: ['last'], cursor: 'null' });
  });

  it('an end is an end, also of an empty list and of a full last page', async () => {
    const none = await made.define('none', [title]);
    expect(expectOk(await admin.get(none)).next_cursor).toBe(null);
    for (const name of ['a', 'b']) await made.make(none, { title: name });
    expect(expectOk(await admin.get(`${none}?per_page=2`))).toMatchObject({
      next_cursor: null,
      total_items: 2,
    });
    expect(expectOk(await admin.get(`${none}?page=7`)).next_cursor).toBe(null);
  });
});

describe('a cursor is refused', () => {
  const refusal = {
    status: 400,
    body: { code: 'validation', errors: [{ path: 'cursor', code: 'invalid' }] },
  };
  let cursor: string;
  beforeAll(async () => {
    cursor = expectOk(await admin.get(`${things}?sort=n&filter=n>0&per_page=2`)).next_cursor;
  });

  it.each([
    ['', 'sort=n&filter=n>0', 'nothing'],
    ['x'.repeat(10_000), 'sort=n&filter=n>0', 'something long'],
    ['😀"\\', 'sort=n&filter=n>0', 'no base64'],
    ['AQ'.repeat(40), 'sort=n&filter=n>0', 'made up'],
  ])('when it is made up', async (garbage, query) => {
    const response = await admin.get(`${things}?${query}&cursor=${encodeURIComponent(garbage)}`);
    expect(response).toMatchObject(refusal);
    expect(response.body.message).toBe(
      'cursor: is not a next_cursor of a list of this collection with this sort and filter',
    );
  });

  it.each(['sort=-n&filter=n>0', 'filter=n>0', 'sort=n', 'sort=n,id&filter=n>0', 'sort=word&filter=n>0'])(
    'by a list with %s',
    async (query) => {
      expect(await admin.get(`${things}?${query}&cursor=${cursor}`)).toMatchObject(refusal);
    },
  );

  it('when a character of it was changed, and by the same collection of another app', async () => {
    const changed = `${cursor.slice(0, 60)}${cursor[60] === 'A' ? 'B' : 'A'}${cursor.slice(61)}`;
    expect(await admin.get(`${things}?sort=n&filter=n>0&cursor=${changed}`)).toMatchObject(refusal);
    const other = await scenario({ workspace: made.workspace, collections: { things: fields } });
    expect(await other.admin.get(`${other.records('things')}?sort=n&filter=n>0&cursor=${cursor}`))
      .toMatchObject(refusal);
  });

  it('beside a page, but for the first', async () => {
    const query = `sort=n&filter=n>0&cursor=${cursor}`;
    expect(await admin.get(`${things}?${query}&page=2`))
      .toMatchObject({ status: 400, body: { message: 'page: must be left out beside a cursor' } });
    expectOk(await admin.get(`${things}?${query}`));
  });

  it('when the field has got another kind since', async () => {
    const kinds = await made.define('kinds', [title, { name: 'x', kind: 'text' }]);
    for (const x of ['one', 'two']) await made.make(kinds, { title: x, x });
    const { next_cursor } = expectOk(await admin.get(`${kinds}?sort=x&per_page=1`));
    const alter = (schema: object) => admin.patch(`${made.collections}/kinds?confirm=drop`, { schema });
    expectOk(await alter({ fields: [title] }));
    expect(await admin.get(`${kinds}?sort=x&cursor=${next_cursor}`)).toMatchObject({
      body: { code: 'unknown_column' },
    });
    expectOk(await alter({ fields: [title, { name: 'x', kind: 'number' }] }));
    expect(await admin.get(`${kinds}?sort=x&cursor=${next_cursor}`)).toMatchObject(refusal);
  });

  it('when a value of the record before is too long for it, rather than to skip records', async () => {
    const long = await made.define('long', [title]);
    for (const letter of ['a', 'b']) await made.make(long, { title: letter.repeat(5_000) });
    const { next_cursor } = expectOk(await admin.get(`${long}?sort=title&per_page=1`));
    const response = await admin.get(`${long}?sort=title&per_page=1&cursor=${next_cursor}`);
    expect(response).toMatchObject(refusal);
    expect(response.body.message).toMatch(/over 4096 bytes; use page$/);
    expect(expectOk(await admin.get(`${long}?per_page=1`)).next_cursor.length).toBeLessThan(200);
  });
});

it('hooks walk through lists of any length', async () => {
  const source = `routerAdd('GET', '/walk', async () => {
    const ids = [];
    let cursor;
    do {
      const page = await $app.records.list('things', { sort: '-n', per_page: 7, cursor });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    const wrong = await $app.records.list('things', { cursor: 'x' }).catch(({ code, errors }) => [code, errors[0].path]);
    return { ids, wrong };
  });`;
  expectOk(await admin.put(`${made.app.path}/hooks/walk.ts`, { source }));
  expect(expectOk(await as().get(`${made.app.path}/custom/walk`)))
    .toEqual({ ids: await idsOf('sort=-n'), wrong: ['validation', 'cursor'] });
});
