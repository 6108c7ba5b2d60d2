// What is exported can be imported again unchanged, in both formats.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario } from '../../../harness/scenario.ts';

const fields = [
  { name: 'title', kind: 'text' },
  { name: 'slug', kind: 'text', unique: true },
  { name: 'total', kind: 'number' },
  { name: 'done', kind: 'bool' },
  { name: 'meta', kind: 'json' },
  { name: 'due', kind: 'datetime' },
  { name: 'mail', kind: 'email' },
  { name: 'link', kind: 'url' },
  { name: 'status', kind: 'select', options: ['open', 'paid, later', '"'] },
  { name: 'parent', kind: 'relation', target: 'things' },
  { name: 'tag', kind: 'relation', target: 'tags' },
  { name: 'scan', kind: 'file' },
  { name: 'size', kind: 'number', default: 7 },
  { name: 'number', kind: 'number', autonumber: true },
  { name: 'words', kind: 'select', many: true, options: ['a,b', '"', '[b]'] },
  { name: 'tags', kind: 'relation', many: true, target: 'tags' },
  { name: 'others', kind: 'relation', many: true, target: 'things' },
  { name: 'scans', kind: 'file', many: true },
];
const texts = [
  '',
  ' ',
  'null',
  'NULL',
  'a,b',
  'say "x"',
  'two\nlines',
  'two\r\nlines',
  'a\rb',
  '=1+1',
  '+cmd|x',
  '@sum',
  '-1',
  'grüße 漢字 🎈',
  '\ufeffbom',
  '\\N',
  "it's; {a} [b] \\ \t.",
  '"quoted"',
];

const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;
let made: Scenario;
let admin: Caller;
let things: string;

beforeAll(async () => {
  made = await scenario({ collections: { tags: [{ name: 'name', kind: 'text' }], things: fields } });
  ({ admin } = made);
  things = made.records('things');
  const tag = await made.make(made.records('tags'), { name: 'red' });
  const file = expectOk(
    await admin.post(`${made.app.path}/files`, 'hello', { 'Content-Type': 'text/plain' }),
  );
  for (const [index, title] of texts.entries()) await made.make(things, { title, slug: `${index} ${title}` });
  const metas = [true, 0, 'text', '', [], {}, { a: [1, null, 'x"y'], 'ä,\n': { b: 'null' } }];
  for (const meta of metas) await made.make(things, { meta });
  const totals = [0, -0.1, 1e21, 1.5e-7, 123456789.123456, 9007199254740991];
  for (const total of totals) await made.make(things, { total, size: null });
  await admin.post(things, '{"meta":{"big":12345678901234567890.123456789012345}}');
  const [first, second] = [
    await made.make(things, { done: true, due: '2026-03-01T00:00:00.007Z', status: 'paid, later' }),
    await made.make(things, {
      done: false,
      due: '0099-03-01T00:00:00Z',
      status: '"',
      words: ['"', '[b]', 'a,b'],
      tag,
      tags: [tag],
      scan: file.id,
      scans: [file.id],
    }),
  ];
  // Each points to the other, so one of them comes first.
  expectOk(
    await admin.patch(`${things}/${first}`, {
      parent: second,
      others: [second, first],
      mail: 'a@example.com',
    }),
  );
  expectOk(await admin.patch(`${things}/${second}`, { parent: first, link: 'https://example.com/?a=1,2' }));
});

async function all(records: string, caller = admin): Promise<string> {
  const response = await caller.get(`${records}?per_page=200&sort=id`);
  expectOk(response);
  return response.text;
}

const upload = (text: string, type: string, query = ''): Promise<ApiResponse> =>
  admin.post(`${things}/import${query}`, text, { 'Content-Type': type });

describe.each(['ndjson', 'csv'] as const)('%s', (format) => {
  it('brings back every value of every kind as it was', async () => {
    const before = await all(things);
    const exported = await admin.get(`${things}/export?format=${format}`);
    expectOk(exported);
    const { items } = JSON.parse(before);
    for (const { id } of items) await admin.patch(`${things}/${id}`, { parent: null, others: [] });
    for (const { id } of items) expectOk(await admin.delete(`${things}/${id}`));
    expect(expectOk(await upload(exported.text, types[format]))).toEqual({
      created: items.length,
      skipped: 0,
      errors: [],
    });
    expect(await all(things)).toBe(before);
    expect((await admin.get(`${things}/export?format=${format}`)).text).toBe(exported.text);
  });

  it('shows the fields that are asked for, of the records that pass the filter', async () => {
    const query = `format=${format}&fields=title,total&filter=${encodeURIComponent('total > 1e20')}`;
    const { items: [{ id }] } = expectOk(
      await admin.get(`${things}?filter=${encodeURIComponent('total > 1e20')}`),
    );
    expect((await admin.get(`${things}/export?${query}`)).text).toBe(
      format === 'csv' ? `id,title,total\r\n${id},,1e+21\r\n` : `{"id":"${id}","title":null,"total":1e+21}\n`,
    );
  });

  it('is for admins of the app alone', async () => {
    const user = await made.user();
    await made.setRules('things', { list: 'any', create: 'any' });
    for (const caller of [user, as()]) {
      const status = caller === user ? 403 : 401;
      expect((await caller.get(`${things}/export?format=${format}`)).status).toBe(status);
      expect((await caller.post(`${things}/import`, '', { 'Content-Type': types[format] })).status).toBe(
        status,
      );
    }
  });
});

it('exports profiles with what they show of their users, and takes none in', async () => {
  expectOk(await admin.post(made.collections, { schema: { id: 'members', kind: 'auth', fields: [] } }));
  const members = made.records('members');
  const password = 'a password of the test';
  expectOk(await admin.post(members, { email: 'm@example.com', password }));
  const exported = (await admin.get(`${members}/export?format=csv`)).text;
  expect(exported).toMatch(/^id,created_at,updated_at,email,verified,last_login,oauth_providers\r\n/);
  expect(exported).toContain('m@example.com');
  expect(exported).not.toContain('argon2');
  const response = await admin.post(`${members}/import`, exported, { 'Content-Type': 'text/csv' });
  expect([response.status, response.body.message]).toEqual([
    400,
    '"members" is of kind auth; only base collections take imports',
  ]);
  expect((await admin.post(`${made.records('users')}/import`, '', { 'Content-Type': 'text/csv' })).status)
    .toBe(403);
});

it('streams more than a piece', async () => {
  const many = await made.define('many', [{ name: 'n', kind: 'number' }]);
  const lines = Array.from({ length: 2_500 }, (_, n) => `{"n":${n}}`).join('\n');
  expect(expectOk(await admin.post(`${many}/import`, lines, { 'Content-Type': 'application/x-ndjson' })))
    .toEqual({
      created: 2_500,
      skipped: 0,
      errors: [],
    });
  const rows = (await admin.get(`${many}/export?format=csv&fields=n`)).text.trim().split('\r\n').slice(1);
  const numbers = rows.map((row) => Number(row.split(',')[1]));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2_500 }, (_, n) => n));
});

it('refuses what it cannot export', async () => {
  const ask = async (query: string) => (await admin.get(`${things}/export?${query}`)).body;
  expect(await ask('format=xml')).toMatchObject({ code: 'validation' });
  expect(await ask('filter=nope%20%3D%201')).toMatchObject({ code: 'unknown_column' });
  expect(await ask('fields=nope')).toMatchObject({ code: 'unknown_column' });
  expect(await ask('filter=(')).toMatchObject({ code: 'parse_error' });
});
