// The examples of docs/reference/lists.md, run as a reader would.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../harness/api.ts';
import { blocksOf } from '../../harness/documentation-page.ts';
import { scenario, titlesOf } from '../../harness/scenario.ts';

const blocks = blocksOf(readFileSync(new URL('../../../docs/reference/lists.md', import.meta.url), 'utf8'));

let admin: Caller;
let orders: string;

beforeAll(async () => {
  const fields = [
    { name: 'title', kind: 'text' },
    { name: 'status', kind: 'select', options: ['open', 'paid'] },
    { name: 'total', kind: 'number' },
    { name: 'due', kind: 'datetime' },
  ];
  const notes = [{ name: 'text', kind: 'text' }, { name: 'order', kind: 'relation', target: 'orders' }];
  const made = await scenario({ collections: { orders: fields, notes } });
  ({ admin } = made);
  orders = made.records('orders');
  const [example] = blocks.filter(({ kind }) => kind === 'json');
  for (const values of JSON.parse(example?.text ?? '[]')) await made.make(orders, values);
  const [tea] = expectOk(await admin.get(`${orders}?filter=title = 'Tea'`)).items;
  await made.make(made.records('notes'), { text: 'Call back', order: tea.id });
});

/** The lines of all blocks of a kind, split at their arrows. */
function examples(kind: string): [query: string, result: string][] {
  const lines = blocks.filter((block) => block.kind === kind).flatMap(({ text }) => text.trim().split('\n'));
  return lines.map((line) => {
    const [query, result, ...rest] = line.split(' → ');
    if (query === undefined || result === undefined || rest.length > 0) {
      throw new Error(`no example: ${line}`);
    }
    return [query, result];
  });
}

it.each(examples('list'))('a list of %s has %s', async (query, titles) => {
  expect(titlesOf(await admin.get(`${orders}?${query}`)).join(', ')).toBe(titles);
});

it.each(examples('shown'))('a list of %s shows %s', async (query, part) => {
  expect((await admin.get(`${orders}?${query}`)).body).toMatchObject(JSON.parse(part));
});

it.each(examples('aggregate'))('an aggregate of %s is %s', async (query, result) => {
  const response = await admin.get(`${orders}/aggregate?${query}`);
  if (result.startsWith('[')) expect(expectOk(response)).toEqual({ items: JSON.parse(result) });
  else expect(`${response.body.code}: ${response.body.message}`).toBe(result);
});

it.each(examples('cursor'))('the pages of %s are %s', async (query, pages) => {
  const shown: string[] = [];
  let cursor = '';
  do {
    const response = await admin.get(`${orders}?${query}${cursor}`);
    shown.push(titlesOf(response).join(', '));
    cursor = response.body.next_cursor === null ? '' : `&cursor=${response.body.next_cursor}`;
  } while (cursor !== '');
  expect(shown.join('; ')).toBe(pages);
});
