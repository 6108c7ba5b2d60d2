// What access rules say of relations: which related records callers may look at, and which they may point to.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { upload } from '../../harness/file-app.ts';
import { owner, scenario, title, titlesOf } from '../../harness/scenario.ts';

const app = await scenario();
const { admin } = app;
const [ada, bob] = [await app.user(), await app.user()];

describe('rule.relation-target', () => {
  let notes: string;
  let hidden: string;
  let seen: string;

  beforeAll(async () => {
    const secrets = await app.define('secrets', [title, owner], { get: 'owner = @request.auth.id' });
    hidden = await app.make(secrets, { title: 'of Bob', owner: bob.id });
    seen = await app.make(secrets, { title: 'of Ada', owner: ada.id });
    const secret = { name: 'secret', kind: 'relation', target: 'secrets' };
    notes = await app.define('notes', [title, secret, owner], {
      list: 'auth',
      create: 'auth',
      update: 'auth',
      get: 'auth',
    });
    await app.make(notes, { title: 'hidden', secret: hidden, owner: bob.id });
    await app.make(notes, { title: 'seen', secret: seen, owner: ada.id });
  });

  it.each([
    ['secret.title ~ "of"', ['seen'], ['hidden', 'seen']],
    ['secret.title != "of Ada"', ['hidden'], ['hidden']],
    ['secret.title = null', ['hidden'], []],
    ['!(secret.title = null)', ['seen'], ['hidden', 'seen']],
    ['secret.owner.email ~ "@"', ['seen'], ['hidden', 'seen']],
    ['owner.email ~ "@"', ['seen'], ['hidden', 'seen']],
    ['owner.email = null', ['hidden'], []],
  ])('rule.relation-target: a filter %s sees only what may be read', async (filter, forAda, forAdmin) => {
    const query = `?sort=title&filter=${encodeURIComponent(filter)}`;
    expect(titlesOf(await ada.get(notes + query))).toEqual(forAda);
    expect(titlesOf(await admin.get(notes + query))).toEqual(forAdmin);
  });

  it('rule.relation-target: a hidden record cannot be pointed to, nor told from one that does not exist', async () => {
    const { id } = expectOk(await ada.post(notes, { title: 'mine', secret: seen }));
    const responses: string[] = [];
    for (const secret of [hidden, randomUUID()]) {
      for (
        const response of [
          await ada.post(notes, { title: 'x', secret }),
          await ada.patch(`${notes}/${id}`, { secret }),
        ]
      ) {
        expectError(response, 400, 'validation');
        responses.push(response.text);
      }
    }
    expect(new Set(responses).size).toBe(1);
    expect((await ada.patch(`${notes}/${id}`, { secret: seen })).status).toBe(200);
    expect((await ada.patch(`${notes}/${id}`, { secret: null })).status).toBe(200);
    expect((await admin.patch(`${notes}/${id}`, { secret: hidden })).status).toBe(200);
    // What an admin put there stays as long as it is not written again.
    expect((await ada.patch(`${notes}/${id}`, { title: 'y' })).status).toBe(200);
  });

  it('rule.relation-target: a default may point to what its callers may not read', async () => {
    const file = (await upload(admin, { path: app.collections.replace(/\/collections$/, '') }, 'a')).id;
    const defaulted = await app.define('defaulted', [
      { name: 'secret', kind: 'relation', target: 'secrets', default: hidden },
      { name: 'file', kind: 'file', default: file },
    ], { create: 'any' });
    const fields = { secret: hidden, file };
    for (const caller of [ada, as()]) {
      expect(expectOk(await caller.post(defaulted, {})).fields).toEqual(fields);
      for (const name of ['secret', 'file'] as const) {
        expectError(await caller.post(defaulted, { [name]: fields[name] }), 400, 'validation');
      }
    }
  });

  it('rule.relation-target: what is expanded or pointed to may be known by the email of who asks', async () => {
    await app.define('letters', [title, { name: 'to', kind: 'email' }], {
      get: 'to = @request.auth.email && @request.method = "GET"',
    });
    const pages = await app.define('pages', [title, { name: 'of', kind: 'relation', target: 'letters' }], {
      list: 'any',
      get: 'any',
      create: 'any',
      update: 'any',
    });
    const letters = `${app.collections}/letters/records`;
    const made = await Promise.all([ada, bob].map(async ({ email }) => {
      const of = await app.make(letters, { title: email, to: email });
      return { of, path: `${pages}/${await app.make(pages, { title: email, of })}` };
    }));
    for (const [index, caller] of [ada, bob].entries()) {
      for (const [other, { of, path }] of made.entries()) {
        for (const response of [await caller.post(pages, { of }), await caller.patch(path, { of })]) {
          if (other === index) expectOk(response);
          else expectError(response, 400, 'validation');
        }
      }
      const read = async ({ id }: { id: string }) => expectOk(await caller.get(`${pages}/${id}?expand=of`));
      const { items } = expectOk(await caller.get(`${pages}?expand=of`));
      for (const item of [...items, ...await Promise.all(items.map(read))]) {
        if (item.fields.title === null) continue;
        const isOwn = item.fields.title === caller.email;
        expect(item.expand.of?.fields.title).toBe(isOwn ? caller.email : undefined);
      }
      const found = expectOk(await caller.get(`${pages}?filter=of.title ~ "@"`));
      expect(new Set(found.items.map(({ fields }: { fields: { of: string } }) => fields.of)))
        .toEqual(new Set([made[index]?.of]));
    }
  });

  it('rule.relation-target: a rule itself looks at whatever its admin named', async () => {
    const records = await app.define(
      'led',
      [title, { name: 'secret', kind: 'relation', target: 'secrets' }],
      {
        list: 'secret.title = "of Bob"',
      },
    );
    await app.make(records, { title: 'by the rule', secret: hidden });
    expect(titlesOf(await ada.get(records))).toEqual(['by the rule']);
  });
});

describe('rule.relation-many', () => {
  const up = { name: 'up', kind: 'relation', target: 'trees' };
  const terms = (count: number, path: string) =>
    Array.from({ length: count }, (_, index) => `${path} != '${index}'`).join(' && ');
  const filtered = (filter: string) => `?filter=${encodeURIComponent(filter)}`;
  let trees: string;
  let leaf: string;

  beforeAll(async () => {
    const names = Array.from({ length: 100 }, (_, index) => `up_${index}`);
    const ends = names.map((name) => ({ ...up, name }));
    trees = await app.define('trees', [title], { list: 'any', create: 'any' });
    expectOk(await admin.patch(`${app.collections}/trees`, { schema: { fields: [title, up, ...ends] } }));
    await app.setRules('trees', { get: terms(4, 'up.up.title') });
    leaf = await app.make(trees, { title: 'root' });
    for (const title of ['trunk', 'branch', 'leaf']) {
      const below = Object.fromEntries(['up', ...names].map((name) => [name, leaf]));
      leaf = await app.make(trees, { title, ...below });
    }
  });

  it('rule.relation-many: many looks through relations, each under a rule that looks on, cost little', async () => {
    const others = Array.from({ length: 20 }, (_, index) => `up_${index}.up.up.title = 'root'`);
    const filter = `up.up.up.title = 'root' && ${terms(20, 'up.up.up.title')} && ${others.join(' && ')}`;
    expect(titlesOf(await as().get(trees + filtered(filter)))).toEqual(['leaf']);
  });

  it('rule.relation-many: too many are refused, on lists and streams, but not to admins', async () => {
    const filter = `up.up.up.title = 'root' && ${terms(100, 'up.up.up.title')}`;
    for (const path of [trees, trees.replace('/records', '/events')]) {
      expectError(await as().get(path + filtered(filter)), 400, 'parse_error');
    }
    expect(titlesOf(await admin.get(trees + filtered(filter)))).toEqual(['leaf']);
  });

  it('rule.relation-many: many relations can be written at once, and too many are refused', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`up_${index}`, leaf]));
    expectOk(await as().post(trees, fields));
    await app.setRules('trees', { get: terms(11, 'up.up.title') });
    expectError(await as().post(trees, fields), 400, 'validation');
    expectOk(await admin.post(trees, fields));
  });
});
