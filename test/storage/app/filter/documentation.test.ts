// The examples of docs/reference/filters.md, run as a reader would.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Field } from '../../../../storage/definition.ts';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import type { RequestValues } from '../../../../storage/app/filter/request.ts';
import { type FilteredTables, makeTables, requestOf } from './fixture.ts';
import { profileOf } from './profiles.ts';

const page = readFileSync(new URL('../../../../docs/reference/filters.md', import.meta.url), 'utf8');

/** The lines of all blocks of a kind, split at their arrows. */
function examples(kind: string): (readonly [filter: string, response: string])[] {
  return blocks(kind).flatMap((block) => block.trim().split('\n')).map((line) => {
    const [filter, response, ...rest] = line.split(' → ');
    if (filter === undefined || response === undefined || rest.length > 0) {
      throw new Error(`no example: ${line}`);
    }
    return [filter, response];
  });
}

function blocks(kind: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\``, 'gms'))].map(([, block]) =>
    block ?? ''
  );
}

const people: readonly Field[] = [
  { name: 'name', kind: 'text' },
  { name: 'boss', kind: 'relation', target: 'people' },
];

const articles: readonly Field[] = [
  { name: 'key', kind: 'text' },
  { name: 'title', kind: 'text' },
  { name: 'state', kind: 'select', options: ['draft', 'public'] },
  { name: 'views', kind: 'number' },
  { name: 'featured', kind: 'bool' },
  { name: 'due', kind: 'datetime' },
  { name: 'meta', kind: 'json' },
  { name: 'author', kind: 'relation', target: 'people' },
  { name: 'owner', kind: 'relation', target: 'users' },
  { name: 'labels', kind: 'select', options: ['new', 'hot', 'old'], many: true },
  { name: 'editors', kind: 'relation', target: 'people', many: true },
];

const members: readonly Field[] = [{ name: 'plan', kind: 'text' }, { name: 'quota', kind: 'number' }];

const comments: readonly Field[] = [
  { name: 'article', kind: 'relation', target: 'articles' },
  { name: 'writer', kind: 'relation', target: 'users' },
  { name: 'text', kind: 'text' },
  { name: 'score', kind: 'number' },
];

let tables: FilteredTables;
let drop: () => Promise<void>;
let titles: string[];
let ada: RequestValues;
const now = Date.parse('2026-02-01T00:00:00Z');

beforeAll(async () => {
  ({ tables, drop } = await makeTables({ people, articles, comments, members }));
  const records: Record<string, Record<string, unknown>[]> = JSON.parse(blocks('json')[0] ?? '{}');
  const ids = new Map<unknown, string>();
  for (const { email } of records['users'] ?? []) {
    ids.set(email, await tables.insertUser({ email: String(email), verified: true }));
  }
  // Bosses come before those they are bosses of.
  for (const { name, boss } of (records['people'] ?? []).toReversed()) {
    ids.set(name, await tables.insert('people', { name, boss: ids.get(boss) }));
  }
  for (const article of records['articles'] ?? []) {
    const editors = Array.isArray(article['editors']) ? article['editors'].map((name) => ids.get(name)) : [];
    const relations = { author: ids.get(article['author']), owner: ids.get(article['owner']), editors };
    const fields = { ...article, ...relations, key: article['title'] };
    ids.set(article['title'], await tables.insert('articles', fields));
  }
  for (const { article, writer, ...comment } of records['comments'] ?? []) {
    await tables.insert('comments', { ...comment, article: ids.get(article), writer: ids.get(writer) });
  }
  titles = (records['articles'] ?? []).map(({ title }) => String(title));
  ada = requestOf({
    now,
    auth: {
      id: ids.get('ada@example.com') ?? '',
      email: 'ada@example.com',
      role: 'user',
      verified: true,
      created_at: '2026-01-15T12:00:00.000Z',
      profiles: profileOf(ids.get('ada@example.com') ?? '', { plan: 'pro', quota: 100 }),
    },
  });
});

afterAll(() => drop());

async function expectResponse(filter: string, response: string, request: RequestValues): Promise<void> {
  const keys = response === 'none' ? [] : response === 'all' ? titles : response.split(', ');
  const selection = { sql: [...keys].sort(), memory: [...keys].sort() };
  expect(await tables.select(filter, { request, collection: 'articles' })).toEqual(selection);
}

describe('docs/reference/filters.md', () => {
  it('has examples of all kinds', () => {
    expect(examples('filter').length).toBeGreaterThan(40);
    expect(examples('rule').length).toBeGreaterThan(8);
  });

  it.each(examples('filter'))('is right about %s → %s', async (filter, response) => {
    const [code, message] = response.split(/: (.*)/);
    if (message === undefined) return await expectResponse(filter, response, requestOf({ now }));
    const error: unknown = await tables.select(filter, { collection: 'articles' }).catch((refusal) =>
      refusal
    );
    if (!(error instanceof FilterError)) throw new Error(`${filter} is not refused`);
    expect([error.code, error.message]).toEqual([code, message]);
  });

  it.each(examples('query'))('is right about the query and %s → %s', async (filter, response) => {
    await expectResponse(filter, response, requestOf({ now, query: { min: '100' } }));
  });

  it.each(examples('rule'))('is right about the rule %s → %s', async (rule, responses) => {
    const [, forAda, forAnybody] = /^Ada: (.*); anonymous: (.*)$/.exec(responses) ?? [];
    await expectResponse(rule, forAda ?? '', ada);
    await expectResponse(rule, forAnybody ?? '', requestOf({ now }));
  });
});
