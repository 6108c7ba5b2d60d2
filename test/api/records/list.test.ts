// Lists of records: pages and totals, order, and chosen fields.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../harness/api.ts';
import { scenario } from '../../harness/scenario.ts';

let admin: Caller;
let collections: string;
let records: string;

const words = ['b', 'a', 'B', 'é', 'Z', 'ab', 'a b', '😀', 'z', '\uffff', ''];

beforeAll(async () => {
  const fields = [
    { name: 'word', kind: 'text', index: true },
    { name: 'length', kind: 'number' },
    { name: 'seen', kind: 'datetime' },
  ];
  const made = await scenario({ collections: { words: fields } });
  ({ admin, collections } = made);
  records = made.records('words');
  for (const [n, word] of words.entries()) {
    const seen = new Date(Date.UTC(2026, 0, words.length - n)).toISOString();
    expectOk(await admin.post(records, { word, length: [...word].length, seen }));
  }
});

async function wordsOf(query: string): Promise<string[]> {
  const { items } = expectOk(await admin.get(`${records}?${query}`));
  return items.map(({ fields }: { fields: { word: string } }) => fields.word);
}

/** Order of code points, which the order of UTF-16 units is not. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

describe('pages', () => {
  it('hold every record once, in the order of ids, with exact totals', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 4; page++) {
      const body = expectOk(await admin.get(`${records}?page=${page}&per_page=3`));
      expect(body).toMatchObject({ page, per_page: 3, total_items: words.length, total_pages: 4 });
      seen.push(...body.items.map(({ fields }: { fields: { word: string } }) => fields.word));
    }
    expect(seen).toEqual(words);
  });

  it('count exactly when the last page is full, part of one, empty, or far away', async () => {
    for (
      const [query, found] of [['per_page=11', 11], ['per_page=12', 11], ['page=2&per_page=11', 0], [
        'page=999999',
        0,
      ]]
    ) {
      const body = expectOk(await admin.get(`${records}?${query}`));
      expect(body.items, String(query)).toHaveLength(Number(found));
      expect(body.total_items, String(query)).toBe(words.length);
    }
    expectOk(await admin.post(collections, { schema: { id: 'nothing', fields: [] } }));
    expect(expectOk(await admin.get(`${collections}/nothing/records`))).toEqual({
      items: [],
      page: 1,
      per_page: 30,
      total_items: 0,
      total_pages: 0,
      next_cursor: null,
    });
    const beyond = expectOk(await admin.get(`${collections}/nothing/records?page=2`));
    expect(beyond).toMatchObject({ total_items: 0, total_pages: 0 });
  });

  it('leave the totals out on request', async () => {
    const body = expectOk(await admin.get(`${records}?skip_total=true&per_page=2`));
    expect(body).toMatchObject({ per_page: 2, total_items: -1, total_pages: -1 });
    expect(body.items).toHaveLength(2);
  });

  it('have at most 200 records', async () => {
    expect(expectOk(await admin.get(`${records}?per_page=100000`)).per_page).toBe(200);
  });

  it('are empty however far they are beyond the last', async () => {
    expect(expectOk(await admin.get(`${records}?page=${'9'.repeat(20)}&per_page=200`)).items).toEqual([]);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'per_page=0',
    'per_page=-5',
    'per_page=',
    'page=1e3',
  ])(
    'are refused for %s',
    async (query) => {
      const response = await admin.get(`${records}?${query}`);
      expect(response.status).toBe(400);
      expect(response.body.code).toBe('validation');
    },
  );
});

describe('a filter', () => {
  it.each(['x', 'ж', '漢', '😀'])('may have 4,096 characters, all of them %s', async (letter) => {
    const filter = (length: number) => {
      const rest = length - [...`word = ""`].length;
      return `filter=${encodeURIComponent(`word = "${letter.repeat(rest)}"`)}`;
    };
    expect(expectOk(await admin.get(`${records}?${filter(4_096)}`)).items).toEqual([]);
    expect(await admin.get(`${records}?${filter(4_097)}`)).toMatchObject({ status: 400 });
  });
});

describe('the order', () => {
  it('of texts is that of their code points', async () => {
    const ordered = [...words].sort(byCodePoint);
    expect(await wordsOf('sort=word')).toEqual(ordered);
    expect(await wordsOf('sort=-word')).toEqual(ordered.reverse());
  });

  it('follows several fields, then the id', async () => {
    const byLength = [...words].sort((a, b) => [...b].length - [...a].length || byCodePoint(a, b));
    expect(await wordsOf('sort=-length,word')).toEqual(byLength);
    const stable = words.map((word, n) => ({ word, n }))
      .sort((a, b) => [...a.word].length - [...b.word].length || a.n - b.n)
      .map(({ word }) => word);
    expect(await wordsOf('sort=length')).toEqual(stable);
    expect(await wordsOf('sort=seen')).toEqual([...words].reverse());
    expect(await wordsOf('sort=-id')).toEqual([...words].reverse());
    expect(await wordsOf('sort=-created_at,-updated_at,-id')).toEqual([...words].reverse());
  });

  it('is the same for any number of ways to ask', async () => {
    const columns = ['word', 'length', 'seen', 'id', 'created_at', 'updated_at'];
    const sorts = columns.flatMap((a) => columns.flatMap((b) => columns.map((c) => `${a},-${b},${c}`)));
    const responses = await Promise.all(
      sorts.map((sort) => admin.get(`${records}?sort=${sort}&skip_total=true`)),
    );
    for (const response of responses) expect(expectOk(response).items).toHaveLength(words.length);
  });
});

describe('chosen fields', () => {
  it('come alone, with id and collection, in lists and single reads', async () => {
    const { items } = expectOk(await admin.get(`${records}?fields=length,created_at&per_page=1`));
    expect(items).toEqual([
      { id: expect.any(String), collection: 'words', fields: { length: 1 }, created_at: expect.any(String) },
    ]);
    const one = await admin.get(`${records}/${items[0].id}?fields=word,id,collection`);
    expect(one.body).toEqual({ id: items[0].id, collection: 'words', fields: { word: 'b' } });
  });

  it.each([
    'sort=nope',
    'sort=-',
    'sort=word,,length',
    'sort=Word',
    'sort=word;drop table words',
    'sort=password_hash',
    'fields=nope',
    'fields=words.word',
    'fields=*',
  ])(
    'and orders are refused for %s',
    async (query) => {
      const response = await admin.get(`${records}?${query}`);
      expect(response.status).toBe(400);
      expect(response.body.code).toBe('unknown_column');
    },
  );

  it('are refused on a record only when it may be read', async () => {
    const [first] = expectOk(await admin.get(records)).items;
    expect((await admin.get(`${records}/${first.id}?fields=nope`)).body.code).toBe('unknown_column');
    expect((await admin.get(`${records}/${randomUUID()}?fields=word`)).status).toBe(404);
  });
});
