// Access rules as settings: shown, set, put back, checked, audited; and what becomes of them when fields go.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let user: EndUser;
let records: string;
let rules: string;

const actions = ['list', 'get', 'create', 'update', 'delete'];
const title = { name: 'title', kind: 'text' };

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  user = await app.user();
  records = await app.define('posts', [title, { name: 'owner', kind: 'relation', target: 'users' }]);
  rules = `${app.collections}/posts/access_rules`;
});

describe('the rules of a collection', () => {
  it('rule.default-admin: are admins only for all five actions of a new collection', async () => {
    const fresh = await app.define('fresh', [title]);
    const shown = expectOk(await admin.get(`${app.collections}/fresh/access_rules`));
    expect(shown).toEqual({
      items: actions.map((action) => ({ collection: 'fresh', action, template: 'admin', filter: null })),
      page: 1,
      per_page: 30,
      total_items: 5,
      total_pages: 1,
    });
    const { items } = expectOk(await admin.get(`${app.collections}/fresh/access_rules?page=2&per_page=2`));
    expect(items).toEqual(shown.items.slice(2, 4));
    expectError(await admin.get(`${app.collections}/fresh/access_rules?page=0`), 400, 'validation');
    const { id } = expectOk(await admin.post(fresh, { title: 'mine' }));
    for (const [caller, status, code] of [[as(), 401, 'unauthorized'], [user, 403, 'forbidden']] as const) {
      expectError(await caller.get(fresh), status, code);
      expectError(await caller.get(`${fresh}/${id}`), status, code);
      expectError(await caller.post(fresh, { title: 'x' }), status, code);
      expectError(await caller.patch(`${fresh}/${id}`, { title: 'x' }), status, code);
      expectError(await caller.delete(`${fresh}/${id}`), status, code);
    }
    expect(expectOk(await admin.get(fresh)).items.map(({ fields }: { fields: unknown }) => fields))
      .toEqual([{ title: 'mine' }]);
  });

  it('are answered as they were set, and count for the very next request', async () => {
    for (const action of actions) {
      const set = expectOk(await admin.put(`${rules}/${action}`, { template: 'any' }));
      expect(set).toEqual({ collection: 'posts', action, template: 'any', filter: null });
    }
    const { id } = expectOk(await as().post(records, { title: 'from anybody' }));
    expect(expectOk(await as().patch(`${records}/${id}`, { title: 'changed' })).fields.title).toBe('changed');
    expect((await as().get(`${records}/${id}`)).status).toBe(200);
    expect(expectOk(await as().get(records)).total_items).toBe(1);
    expect((await as().delete(`${records}/${id}`)).body).toEqual({ ok: true });
    const filter = 'owner = @request.auth.id';
    const set = expectOk(await admin.put(`${rules}/get`, { template: 'filter', filter }));
    expect(set).toEqual({ collection: 'posts', action: 'get', template: 'filter', filter });
    expectError(await as().get(`${records}/${id}`), 401, 'unauthorized');
  });

  it('are the default again after a DELETE, also when they were never set', async () => {
    expectOk(await admin.put(`${rules}/list`, { template: 'any' }));
    for (let round = 0; round < 2; round++) {
      expect((await admin.delete(`${rules}/list`)).body).toEqual({ ok: true });
      expectError(await as().get(records), 401, 'unauthorized');
    }
    const [list] = expectOk(await admin.get(rules)).items;
    expect(list).toEqual({ collection: 'posts', action: 'list', template: 'admin', filter: null });
  });

  it('let any signed-in principal pass with the template auth', async () => {
    await app.setRules('posts', { list: 'auth' });
    expect((await user.get(records)).status).toBe(200);
    expectError(await as().get(records), 401, 'unauthorized');
  });

  it('are gone with their collection', async () => {
    await app.define('short', [title], { list: 'any' });
    expectOk(await admin.delete(`${app.collections}/short`));
    const again = await app.define('short', [title]);
    expectError(await as().get(again), 401, 'unauthorized');
  });

  it('leave an audit entry each time, in the app’s log', async () => {
    await app.setRules('posts', { update: 'title = "audited"' });
    expectOk(await admin.delete(`${rules}/update`));
    const { items } = expectOk(
      await admin.get(`${app.collections.replace('/collections', '')}/audit?per_page=2`),
    );
    expect(items).toMatchObject([
      { action: 'rule_reset', target: 'posts.update' },
      {
        action: 'rule_set',
        target: 'posts.update',
        details: { template: 'filter', filter: 'title = "audited"' },
      },
    ]);
  });
});

describe('a rule that cannot be', () => {
  it.each([
    ['a filter that does not parse', { template: 'filter', filter: 'title = ' }, 400, 'parse_error'],
    ['an empty filter', { template: 'filter', filter: '' }, 400, 'parse_error'],
    ['an unknown field', { template: 'filter', filter: 'nope = 1' }, 400, 'unknown_column'],
    [
      'a secret of the user',
      { template: 'filter', filter: 'owner.password_hash = "x"' },
      400,
      'unknown_column',
    ],
    ['a missing filter', { template: 'filter' }, 400, 'validation'],
    ['a filter out of place', { template: 'any', filter: 'title = "x"' }, 400, 'validation'],
    ['an unknown template', { template: 'everyone' }, 400, 'validation'],
    ['a filter that is no text', { template: 'filter', filter: 5 }, 400, 'validation'],
    ['an unknown member', { template: 'any', sql: 'x' }, 400, 'validation'],
  ])('is refused and changes nothing: %s', async (_, body, status, code) => {
    await app.setRules('posts', { create: 'auth' });
    expectError(await admin.put(`${rules}/create`, body), status, code);
    expect(expectOk(await admin.get(rules)).items[2]).toMatchObject({ action: 'create', template: 'auth' });
  });

  it('says where the mistake is', async () => {
    const response = await admin.put(`${rules}/get`, { template: 'filter', filter: 'title ~ ~' });
    expect(response.body.message).toMatch(/^filter: .*\(at character 9\)$/);
  });

  it('is 404 for an action or a collection that does not exist', async () => {
    expectError(await admin.put(`${rules}/erase`, { template: 'any' }), 404, 'not_found');
    expectError(await admin.delete(`${rules}/erase`), 404, 'not_found');
    expectError(await admin.get(`${app.collections}/ghosts/access_rules`), 404, 'not_found');
  });
});

describe('a comparison that can never be true', () => {
  const meta = { name: 'meta', kind: 'json' };
  const hint = /^filter: "~" never compares a json field with a text: name a place .*\(at character 1\)$/;

  it('is refused as a rule and as a filter, with what works instead', async () => {
    const tagged = await app.define('tagged', [title, meta], { list: 'any' });
    const put = await admin.put(`${app.collections}/tagged/access_rules/list`, {
      template: 'filter',
      filter: 'meta ~ "tea"',
    });
    expectError(put, 400, 'parse_error');
    expect(put.body.message).toMatch(hint);
    for (const caller of [as(), admin]) {
      const list = await caller.get(`${tagged}?filter=meta%20~%20"tea"`);
      expectError(list, 400, 'parse_error');
      expect(list.body.message).toMatch(hint);
    }
    expectError(
      await admin.get(`${app.collections}/tagged/events?filter=meta%20~%20"tea"`),
      400,
      'parse_error',
    );
    const labels = { name: 'labels', kind: 'select', options: ['a', 'b'], many: true };
    await app.define('labelled', [title, meta, labels]);
    for (const [filter, works] of [['meta = "tea"', 'name a place'], ['labels < "b"', 'compared by "="']]) {
      const refused = await admin.put(`${app.collections}/labelled/access_rules/list`, {
        template: 'filter',
        filter,
      });
      expectError(refused, 400, 'parse_error');
      expect(refused.body.message).toContain(works);
    }
    await app.make(tagged, { title: 'a', meta: { tags: ['tea'] } });
    expect(expectOk(await as().get(`${tagged}?filter=meta.tags.0%20~%20"tea"`)).total_items).toBe(1);
  });

  it('in a rule of an earlier release denies all but admins, however it is turned', async () => {
    const old = await app.define('old', [title, meta], { list: 'any', get: 'any' });
    const id = await app.make(old, { title: 'a', meta: { tags: ['tea'] } });
    await app.inDatabase(async (sql) => {
      const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
        select schemaname as schema from pg_tables where tablename = 'old'`;
      await sql.unsafe(`set role ${quoteIdentifier(ownerRole(schema))}`);
      await sql.unsafe(
        `update ${
          quoteIdentifier(schema)
        }._access_rules set template = 'filter', filter = '!(meta ~ "tea")' where collection = 'old'`,
      );
    });
    // Everything else of the collection can be changed, after which the rules are read again.
    expectOk(
      await admin.patch(`${app.collections}/old`, {
        schema: { fields: [title, meta, { name: 'b', kind: 'text' }] },
      }),
    );
    expectError(await as().get(old), 401, 'unauthorized');
    expectError(await user.get(`${old}/${id}`), 403, 'forbidden');
    expect(expectOk(await admin.get(old)).total_items).toBe(1);
    const { items } = expectOk(await admin.get(`${app.collections}/old/access_rules`));
    const broken = expect.stringMatching(/^"~" never compares a json field with a text: name a place /);
    expect(items.slice(0, 2)).toMatchObject([{ action: 'list', broken }, { action: 'get', broken }]);
  });
});

describe('a rule whose field was dropped', () => {
  it('denies all but admins, and says that it is broken until it is set again', async () => {
    const state = { name: 'state', kind: 'text' };
    const drafts = await app.define('drafts', [title, state], {
      list: 'state = "public"',
      get: 'state != "x"',
    });
    expectOk(await admin.post(drafts, { title: 'a', state: 'public' }));
    expect(expectOk(await as().get(drafts)).total_items).toBe(1);
    expectOk(await admin.patch(`${app.collections}/drafts?confirm=drop`, { schema: { fields: [title] } }));
    expectError(await as().get(drafts), 401, 'unauthorized');
    expectError(await user.get(drafts), 403, 'forbidden');
    expect(expectOk(await admin.get(drafts)).total_items).toBe(1);
    const [list] = expectOk(await admin.get(`${app.collections}/drafts/access_rules`)).items;
    expect(list).toEqual({
      collection: 'drafts',
      action: 'list',
      template: 'filter',
      filter: 'state = "public"',
      broken: 'unknown column "state" (at character 1)',
    });
    await app.setRules('drafts', { list: 'title = "a"' });
    expect(expectOk(await as().get(drafts)).total_items).toBe(1);
    expect(expectOk(await admin.get(`${app.collections}/drafts/access_rules`)).items[0]).not.toHaveProperty(
      'broken',
    );
  });

  it('works again when the field is there again', async () => {
    const state = { name: 'state', kind: 'text' };
    const back = await app.define('back', [title, state], { list: 'state = null' });
    expectOk(await admin.post(back, { title: 'a' }));
    expectOk(await admin.patch(`${app.collections}/back?confirm=drop`, { schema: { fields: [title] } }));
    expectOk(await admin.patch(`${app.collections}/back`, { schema: { fields: [title, state] } }));
    expect(expectOk(await as().get(back)).total_items).toBe(1);
  });
});
