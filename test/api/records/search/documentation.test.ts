// The examples of docs/reference/search.md, run as a reader would.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { blocksOf } from '../../../harness/documentation-page.ts';
import { scenario, titlesOf } from '../../../harness/scenario.ts';

const page = readFileSync(new URL('../../../../docs/reference/search.md', import.meta.url), 'utf8');
const blocks = blocksOf(page);
const lists = blocks.filter(({ kind }) => kind === 'list').flatMap(({ text }) => text.split('\n'))
  .filter((line) => line.trim() !== '').map((line) => line.split('→').map((part) => part.trim()));

let admin: Caller;
let articles: string;

beforeAll(async () => {
  const made = await scenario();
  ({ admin } = made);
  articles = made.records('articles');
  const [schema, records] = blocks.filter(({ kind }) => kind === 'json').map(({ text }) => JSON.parse(text));
  expectOk(await admin.post(made.collections, schema));
  for (const values of records) await made.make(articles, values);
});

it.each(lists)('a list of %s has %s', async (query, titles) => {
  expect(titlesOf(await admin.get(`${articles}?${query}`)).join(', ')).toBe(titles);
});
