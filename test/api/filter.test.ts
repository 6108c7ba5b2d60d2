// The `filter` parameter of lists.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { type Scenario, scenario } from '../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let posts: string;

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  await app.define('people', [{ name: 'name', kind: 'text' }], { get: 'any' });
  const ada = expectOk(await admin.post(`${app.collections}/people/records`, { name: 'Ada' })).id;
  posts = await app.define('posts', [
    { name: 'title', kind: 'text' },
    { name: 'views', kind: 'number' },
    { name: 'author', kind: 'relation', target: 'people' },
    { name: 'meta', kind: 'json' },
  ], { list: 'title != "hidden"' });
  for (let n = 0; n < 40; n++) {
    const more = n % 4 === 0 ? { author: ada, meta: { tags: ['four'] } } : {};
    expectOk(await admin.post(posts, { title: `post ${n}`, views: n, ...more }));
  }
  expectOk(await admin.post(posts, { title: 'hidden', views: 100 }));
});

function list(caller: Caller, filter: string, more = ''): Promise<ApiResponse> {
  return caller.get(`${posts}?filter=${encodeURIComponent(filter)}${more}`);
}

describe('a filter', () => {
  it.each([
    ['views < 3', 3],
    ['views >= 30 && views != 35', 9],
    ['author.name = "Ada"', 10],
    ['meta.tags.0 = "four" && views > 20', 4],
    ['title ~ "post 1%"', 11],
    ['title in ["post 1", "post 2", "post 99"]', 2],
    ['created_at <= @now', 40],
    ['views = @request.query.views', 1],
  ])('%s selects %i', async (filter, count) => {
    const response = await list(as(), filter, '&per_page=200&views=7');
    expect(expectOk(response)).toMatchObject({ total_items: count });
    expect(response.body.items).toHaveLength(count);
  });

  it('narrows pages and totals alike, together with the rule', async () => {
    const page = expectOk(await list(as(), 'views >= 10', '&per_page=7&page=5&sort=-views'));
    expect(page).toMatchObject({ total_items: 30, total_pages: 5, items: [{}, {}] });
    expect(expectOk(await list(admin, 'views >= 10', '&per_page=7'))).toMatchObject({ total_items: 31 });
    expect(expectOk(await list(as(), 'views >= 10', '&skip_total=true'))).toMatchObject({ total_items: -1 });
  });

  it('knows the email of a user and of an admin, and that a master admin has none', async () => {
    const { workspace } = app;
    const [user, ofWorkspace] = [await app.user(), await workspace.login()];
    const notes = await app.define('notes', [{ name: 'by', kind: 'email' }], { list: 'any' });
    await app.make(notes, { by: user.email });
    await app.make(notes, { by: ofWorkspace.email });
    const asked = (caller: Caller, filter: string) =>
      caller.get(`${notes}?filter=${encodeURIComponent(filter)}`).then((response) =>
        expectOk(response).total_items
      );
    for (
      const [caller, own, absent] of [
        [user, 1, 0],
        [ofWorkspace, 1, 0],
        [admin, 0, 0],
        [workspace.master, 0, 2],
      ] as const
    ) {
      expect(await asked(caller, 'by = @request.auth.email')).toBe(own);
      expect(await asked(caller, '@request.auth.email = null')).toBe(absent);
    }
  });

  it('that is empty is none', async () => {
    expect(expectOk(await list(as(), '')).total_items).toBe(40);
  });

  it.each<[string, string, string, RegExp]>([
    ['views = ', '', 'parse_error', /at character 9/],
    ['views = ', '"many"', 'parse_error', /"many" is not a number \(at character 9\)/],
    ['nope = 1', '', 'unknown_column', /"nope" \(at character 1\)/],
    ['author.nope = 1', '', 'unknown_column', /"author\.nope"/],
    ['((', '('.repeat(78), 'parse_error', /at character/],
    ['title = "x"', ' || title = "x"'.repeat(128), 'parse_error', /128/],
    ['title = "', `${'x'.repeat(4_096)}"`, 'parse_error', /4096/],
  ])('%s and so on is refused with its place', async (beginning, rest, code, message) => {
    const response = await list(as(), beginning + rest);
    expectError(response, 400, code);
    expect(response.body.message).toMatch(message);
  });

  it('of many shapes gives the right response, prepared or not', async () => {
    for (let n = 1; n <= 80; n++) {
      const filter = Array.from({ length: n }, (_, at) => `views = ${at}`).join(' || ');
      expect(expectOk(await list(as(), filter, '&per_page=1')).total_items).toBe(Math.min(n, 40));
    }
  });
});

describe('a filter that takes too long', () => {
  it(
    'db.timeout: is cut off after 5 s with 503, and its connection goes on',
    { timeout: 60_000 },
    async () => {
      const long = await app.define('long', [{ name: 'text', kind: 'text' }], { list: 'any' });
      const text = 'abcdefghi '.repeat(200_000);
      for (let n = 0; n < 12; n++) expectOk(await admin.post(long, { text: text + n }));
      const filter = Array.from({ length: 100 }, (_, n) => `text ~ "%a%q${n}%z"`).join(' || ');
      const before = performance.now();
      const slow = await as().get(`${long}?filter=${encodeURIComponent(filter)}`);
      const seconds = (performance.now() - before) / 1_000;
      expectError(slow, 503, 'unavailable');
      expect(seconds).toBeGreaterThan(4.5);
      expect(seconds).toBeLessThan(6.5);
      const after = await Promise.all(Array.from({ length: 16 }, () => list(as(), 'views = 1')));
      expect(after.map(({ status }) => status)).toEqual(after.map(() => 200));
    },
  );
});
