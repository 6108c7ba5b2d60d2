// Full-text search of lists: words, beginnings, typing errors, ranks, pages, languages.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, titlesOf } from '../../../harness/scenario.ts';

const searched = [
  { name: 'title', kind: 'text', search: true },
  { name: 'body', kind: 'text', search: true },
  { name: 'note', kind: 'text' },
];

let made: Scenario;
let admin: Caller;
let articles: string;

beforeAll(async () => {
  made = await scenario({ collections: { articles: searched } });
  ({ admin } = made);
  articles = made.records('articles');
  const contents = [
    { title: 'Coffee from Peru', body: 'roasted slowly' },
    { title: 'Tea', body: 'no coffee at all, but receive a cup', note: 'coffee' },
    { title: 'Äpfel & Birnen', body: "it's rock 'n' roll, well-known" },
    { title: 'A table of contents' },
  ];
  for (const values of contents) await made.make(articles, values);
});

const find = async (search: string, more = '') =>
  titlesOf(await admin.get(`${articles}?search=${encodeURIComponent(search)}${more}`));

describe('the records found', () => {
  it.each([
    ['coffee', ['Coffee from Peru', 'Tea']],
    ['COFFEE peru', ['Coffee from Peru']],
    ['cof', ['Coffee from Peru', 'Tea']],
    ['cof peru', []],
    ['peru cof', ['Coffee from Peru']],
    ['äpfel', ['Äpfel & Birnen']],
    ['ÄPF', ['Äpfel & Birnen']],
    ['well-known', ['Äpfel & Birnen']],
    ["it's", ['Äpfel & Birnen']],
    ['nothing', []],
    ['  ', ['Coffee from Peru', 'Tea', 'Äpfel & Birnen', 'A table of contents']],
  ])('of %j are %j', async (search, titles) => {
    expect(await find(search)).toEqual(titles);
  });

  it.each([
    ['a letter that is missing', 'cofee', ['Coffee from Peru', 'Tea']],
    ['a letter that is too many', 'cofffee', ['Coffee from Peru', 'Tea']],
    ['a wrong letter', 'covfee', ['Coffee from Peru', 'Tea']],
    ['letters that are swapped', 'tabel', ['A table of contents']],
    ['letters that are swapped within', 'recieve', ['Tea']],
    ['two errors in a long word', 'contemtts', ['A table of contents']],
    ['a right word beside a wrong one', 'coffee recieve', ['Tea']],
    ['two errors in a short word', 'tabbell', []],
    ['a word of three letters', 'tee', []],
  ])('in spite of %s', async (_name, search, titles) => {
    expect(await find(search)).toEqual(titles);
  });

  it.each(["' | 'coffee", 'a & | ! ( )', ':*', '\\', "\\' & '", '<->', "'", '""', '%', '-', '🙂', '*:A'])(
    'of %j are some, and never an error',
    async (search) => {
      expectOk(await admin.get(`${articles}?search=${encodeURIComponent(search)}`));
    },
  );

  it('pass the filter, too', async () => {
    expect(await find('coffee', `&filter=${encodeURIComponent("note = 'coffee'")}`)).toEqual(['Tea']);
  });
});

describe('the rank', () => {
  it('is higher for words in earlier fields', async () => {
    expect(await find('coffee', '&sort=-@rank')).toEqual(['Coffee from Peru', 'Tea']);
    expect(await find('coffee', '&sort=@rank')).toEqual(['Tea', 'Coffee from Peru']);
    expect(await find('cofee', '&sort=-@rank,title')).toEqual(['Coffee from Peru', 'Tea']);
  });

  it('needs a search', async () => {
    const response = await admin.get(`${articles}?sort=-@rank`);
    expect(response.status).toBe(400);
    expect(response.body.message).toBe('sort: @rank needs a search');
  });
});

describe('pages', () => {
  let many: string;

  beforeAll(async () => {
    many = await made.define('many', searched);
    for (let number = 0; number < 7; number++) {
      await made.make(many, { title: `n${number}`, body: `${'lemon '.repeat(number % 3 + 1)}` });
    }
  });

  it.each(['lemon', 'lemmon'])('of %j go on with a cursor, and have totals', async (word) => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = expectOk(await admin.get(`${many}?search=${word}&sort=-@rank&per_page=2${cursor}`));
      expect(page.total_items).toBe(7);
      seen.push(...page.items.map(({ fields }: { fields: { title: string } }) => fields.title));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(['n2', 'n5', 'n1', 'n4', 'n0', 'n3', 'n6']);
  });

  it('go on with a number', async () => {
    const query = `${many}?search=lemmon&sort=-@rank&per_page=3`;
    expect(titlesOf(await admin.get(`${query}&page=3`))).toEqual(['n6']);
    const behind = expectOk(await admin.get(`${many}?search=lemon&page=9`));
    expect(behind).toMatchObject({ items: [], total_items: 7 });
  });

  it('refuse the cursor of another search', async () => {
    const { next_cursor } = expectOk(await admin.get(`${many}?search=lemon&per_page=2`));
    for (const query of ['search=lemons', '']) {
      const response = await admin.get(`${many}?${query}&per_page=2&cursor=${next_cursor}`);
      expect(response.body.message).toContain('cursor: is not a next_cursor of a list of this collection');
    }
  });
});

describe('bad input gets 400:', () => {
  it.each([
    ['more than 200 characters', 'x'.repeat(201), 'search: must have at most 200 characters'],
    ['more than 20 words', 'x '.repeat(21), 'search: must have at most 20 words'],
    ['a NUL character', 'a\0b', 'search: must not contain a NUL character'],
  ])('%s', async (_name, search, message) => {
    const response = await admin.get(`${articles}?search=${encodeURIComponent(search)}`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'validation', message, errors: [{ path: 'search' }] });
  });

  it('a collection without searched fields', async () => {
    const plain = await made.define('plain', [{ name: 'title', kind: 'text' }]);
    const response = await admin.get(`${plain}?search=x`);
    expect(response.body.message).toBe('search: no field of "plain" is declared with search: true');
  });

  it('a search of a stream or of an aggregate', async () => {
    const stream = await admin.get(`${articles.replace(/records$/, 'events')}?search=x`);
    expect(stream.status).toBe(400);
    expect(stream.body.message).toBe('search: streams cannot be searched; use filter');
    const aggregate = await admin.get(`${articles}/aggregate?fn=count&search=x`);
    expect(aggregate.body.message).toBe('search: aggregates cannot be searched; use filter');
  });
});

it('hooks search as requests do', async () => {
  const source = `routerAdd('GET', '/find/:word', async (e) =>
    (await $app.records.list('articles', { search: e.params.word, sort: '-@rank' })).items.map((r) => r.fields.title));`;
  expectOk(await admin.put(`${made.app.path}/hooks/find.ts`, { source }));
  expect(expectOk(await admin.get(`${made.app.path}/custom/find/cofee`))).toEqual([
    'Coffee from Peru',
    'Tea',
  ]);
});
