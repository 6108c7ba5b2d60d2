// A `get` rule is checked in memory where possible, a `list` rule in the database: both admit the same records.
import { beforeAll, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type EndUser, owner, type Scenario, scenario, title } from '../../harness/scenario.ts';

let app: Scenario;
let user: EndUser;
let records: string;
const ids: string[] = [];

beforeAll(async () => {
  app = await scenario();
  user = await app.user();
  const fields = [
    title,
    owner,
    { name: 'price', kind: 'number' },
    { name: 'done', kind: 'bool' },
    { name: 'due', kind: 'datetime' },
    { name: 'mail', kind: 'email' },
    { name: 'state', kind: 'select', options: ['open', 'closed'] },
    { name: 'meta', kind: 'json' },
  ];
  records = await app.define('glance', fields);
  const other = (await app.user()).id;
  const values: Record<string, unknown>[] = [
    {},
    {
      title: 'a',
      price: 1.5,
      done: true,
      owner: user.id,
      mail: 'Ada@Example.com',
      state: 'open',
      meta: { a: 1 },
    },
    { title: 'A', price: -0, done: false, owner: other, due: '2026-01-01T00:00:00.000Z', meta: { a: '1' } },
    { title: 'é', price: 1e300, due: '2025-12-31T23:59:59.999Z', state: 'closed', meta: [] },
    { title: 'z\u{1f600}', price: 0.1, done: true, due: '0001-01-01T00:00:00.000Z', meta: null },
    { title: user.id, price: 3, done: false, owner: user.id, mail: 'eve@example.com' },
  ];
  for (const each of values) ids.push(await app.make(records, each));
});

it.each([
  "title = 'a'",
  "title != 'a'",
  "title > 'Z' && title <= 'é'",
  "title >= 'z\u{1f600}'",
  'title = null || price = 0',
  'title != null && due = null',
  'price > 1.5 && price <= 3',
  'price >= 0.1',
  'done = true || title != @request.auth.id',
  '!(done = true)',
  'owner = @request.auth.id',
  'owner != @request.auth.id',
  "due < '2026-01-01T00:00:00Z'",
  "due >= '2026-01-01T01:00:00+01:00'",
  'created_at <= @now && updated_at = created_at && price != null',
  "mail = 'ADA@example.com'",
  "state = 'open' || state = 'closed'",
  "title in ['a', 'é', 'nothing']",
  '@request.auth.id = title',
  "@request.query.key = 'open' || title = 'A'",
  "title ~ 'a%'",
  'meta.a = 1',
])('shows by %s what it lists', async (rule) => {
  await app.setRules('glance', { get: rule, list: rule });
  const { items } = expectOk(await user.get(`${records}?per_page=100`));
  const listed = items.map(({ id }: { id: string }) => id).sort();
  const shown: string[] = [];
  for (const id of ids) {
    const { status } = await user.get(`${records}/${id}`);
    expect([200, 403]).toContain(status);
    if (status === 200) shown.push(id);
  }
  expect(shown.sort()).toEqual(listed);
  expect(listed.length).toBeGreaterThan(0);
  expect(listed.length).toBeLessThan(ids.length);
});
