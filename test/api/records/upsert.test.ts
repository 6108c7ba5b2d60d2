// `on_conflict`: creates that update the record which is there.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../harness/api.ts';
import { blocksOf } from '../../harness/documentation-page.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { watched, watchedFields } from '../../harness/watched.ts';

const fields = [
  { name: 'slug', kind: 'text', unique: true },
  { name: 'title', kind: 'text', required: true },
  { name: 'owner', kind: 'text' },
  { name: 'count', kind: 'number', default: 1 },
];

let made: Scenario;
let admin: Caller;
let pages: string;
let [ada, bob]: EndUser[] = [];

beforeAll(async () => {
  made = await scenario({ collections: { pages: fields } });
  ({ admin } = made);
  pages = made.records('pages');
  [ada, bob] = [await made.user(), await made.user()];
});

const put = (values: object, by: Caller | undefined = admin, on = 'slug', records = pages) =>
  (by ?? admin).post(`${records}?on_conflict=${on}`, values);

describe('a create with on_conflict', () => {
  it('creates a record, then updates it, and keeps what the body leaves out', async () => {
    const first = await put({ slug: 'a', title: 'one', count: 5 });
    expect(first.status).toBe(201);
    const second = await put({ id: randomUUID(), slug: 'a', title: 'two' });
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
    expect(second.body.fields).toMatchObject({ slug: 'a', title: 'two', count: 5 });
    expect(second.body.created_at).toBe(first.body.created_at);
  });

  it('creates records whose value is empty, each time', async () => {
    const statuses = [await put({ title: 'x' }), await put({ title: 'x', slug: null })].map((r) => r.status);
    expect(statuses).toEqual([201, 201]);
  });

  it('takes the fields of a unique index, in any order', async () => {
    const schema = {
      id: 'members',
      fields: [{ name: 'team', kind: 'text' }, { name: 'user', kind: 'text' }, {
        name: 'role',
        kind: 'text',
      }],
      indexes: [{ fields: ['team', 'user'], unique: true }],
    };
    expectOk(await admin.post(made.collections, { schema }));
    const members = made.records('members');
    const add = (role: string, on: string) => put({ team: 't', user: 'u', role }, admin, on, members);
    expect((await add('reader', 'team,user')).status).toBe(201);
    expect((await add('owner', 'user,team')).body.fields.role).toBe('owner');
    expect((await add('owner', 'user')).status).toBe(400);
  });

  it.each(['title', 'nope', 'slug,title', ','])('refuses %s, which is not unique', async (on) => {
    const response = await put({ slug: 'z', title: 'x' }, admin, on);
    expect([response.status, response.body.errors[0].path]).toEqual([400, 'on_conflict']);
  });

  it('keeps the conflict of other unique values, and the checks of a create', async () => {
    expectOk(await put({ slug: 'b', title: 'b' }));
    expect((await put({ slug: 'b' })).body.message).toBe('title: is required');
    const id = expectOk(await put({ slug: 'c', title: 'c' })).id;
    expect((await put({ id, slug: 'new', title: 'c' })).status).toBe(409);
  });

  it('makes one record of many at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => put({ slug: 'race', title: `t${n}` })));
    expect(all.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
  });

  it('sends the event and runs the hooks of an update', async () => {
    const hooks = {
      'all.js': `onRecordBeforeCreate('pages', (e) => { e.record.fields.owner = 'create'; });
        onRecordBeforeUpdate('pages', (e) => { e.record.fields.owner = 'update ' + e.previous.fields.owner; });`,
    };
    const own = await scenario({ collections: { pages: fields }, hooks });
    const records = own.records('pages');
    await put({ slug: 'h', title: '1' }, own.admin, 'slug', records);
    const { body } = await put({ slug: 'h', title: '2' }, own.admin, 'slug', records);
    expect(body.fields.owner).toBe('update create');

    const orders = await watched(made);
    const unique = [...watchedFields, { name: 'slug', kind: 'text', unique: true }];
    const schema = { id: orders.name, fields: unique };
    expectOk(await admin.patch(`${made.collections}/${orders.name}`, { schema }));
    const client = await orders.watch();
    for (const title of ['1', '2']) await put({ slug: 'h', title }, admin, 'slug', orders.records);
    await client.count(2);
    expect(client.events.map(({ event }) => event)).toEqual(['record_created', 'record_updated']);
    client.socket.destroy();
  });
});

describe('the examples of docs/reference/collections.md', () => {
  it('are true', async () => {
    const url = new URL('../../../docs/reference/collections.md', import.meta.url);
    const [block] = blocksOf(readFileSync(url, 'utf8')).filter(({ kind }) => kind === 'upsert');
    const goods = await made.define('goods', [
      { name: 'slug', kind: 'text', unique: true },
      { name: 'title', kind: 'text', required: true },
      { name: 'stock', kind: 'number', default: 0 },
    ]);
    const lines = block?.text.trim().split('\n') ?? [];
    for (const line of lines) {
      const [body = '', result] = line.split(' → ');
      const { status, body: { fields, message } } = await put(JSON.parse(body), admin, 'slug', goods);
      expect(`${status} ${message ?? JSON.stringify(fields)}`).toBe(result);
    }
    expect(lines).toHaveLength(4);
  });
});

describe('the rules', () => {
  it('of both create and update hold, so that it shows no more than a create that meets the record', async () => {
    const rules = { create: 'owner = @request.auth.id', update: 'owner = @request.auth.id' };
    const mine = await made.define('mine', fields, rules);
    const send = (by: EndUser | undefined, slug: string, owner = by?.id) =>
      put({ slug, title: 't', owner }, by, 'slug', mine);
    expect((await send(ada, 'hers')).status).toBe(201);
    expect((await send(ada, 'hers')).status).toBe(200);
    const there = await send(bob, 'hers');
    expect([there.status, there.body.message]).toEqual([403, 'the access rule does not admit this']);
    // Who may not create such a record sees no difference.
    const [taken, free] = [await send(bob, 'hers', ada?.id), await send(bob, 'free', ada?.id)];
    expect([taken.status, taken.body]).toEqual([free.status, free.body]);
    expect(free.status).toBe(403);
    const [short, none] = await Promise.all(['hers', 'free'].map((slug) => put({ slug }, bob, 'slug', mine)));
    expect([short?.status, short?.body]).toEqual([none?.status, none?.body]);
    await made.setRules('mine', { create: 'admin' });
    expect((await send(ada, 'hers')).status).toBe(403);
  });
});

describe('on_conflict in a batch', () => {
  const batch = (requests: object[], by: Caller | undefined = admin, path = made.app.path) =>
    (by ?? admin).post(`${path}/batch`, { requests });
  const upsert = (body: object, collection = 'pages', on_conflict = 'slug') => ({
    ...{ method: 'POST', collection, on_conflict, body },
  });

  it('creates, updates what is there, and what the batch has created before', async () => {
    const there = expectOk(await put({ slug: 'b1', title: 'there', count: 5 }));
    const { results } = expectOk(
      await batch([
        upsert({ slug: 'b1', title: 'changed' }),
        upsert({ slug: 'b2', title: 'new' }),
        upsert({ slug: 'b2', title: 'newer' }),
        upsert({ title: 'without a slug' }),
        upsert({ title: 'without a slug' }),
      ]),
    );
    expect(results.map(({ status }: { status: number }) => status)).toEqual([200, 201, 200, 201, 201]);
    expect(results[0].body).toMatchObject({ id: there.id, fields: { title: 'changed', count: 5 } });
    expect(results[2].body).toMatchObject({ id: results[1].body.id, fields: { title: 'newer' } });
  });

  it('names the request that it is wrong in, and writes nothing then', async () => {
    const refused = await batch([
      upsert({ slug: 'never', title: 'x' }),
      upsert({ title: 'x' }, 'pages', 'title'),
    ]);
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'requests.1.on_conflict']);
    const patch = { method: 'PATCH', collection: 'pages', id: randomUUID(), on_conflict: 'slug', body: {} };
    expect((await batch([patch])).body.errors[0].path).toBe('requests.0.on_conflict');
    expect(expectOk(await admin.get(`${pages}?filter=slug='never'`)).total_items).toBe(0);
  });

  it('makes one record of many at once', async () => {
    const all = await Promise.all(
      Array.from(
        { length: 8 },
        (_, n) =>
          batch([upsert({ slug: 'b-race', title: `t${n}` }), upsert({ slug: `b-own${n}`, title: 'x' })]),
      ),
    );
    const first = all.map((response) => expectOk(response).results[0]);
    expect(first.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(first.map(({ body }) => body.id)).size).toBe(1);
  });

  it('holds to the rules of both create and update, and shows no more than a create', async () => {
    const rules = { create: 'owner = @request.auth.id', update: 'owner = @request.auth.id' };
    await made.define('ours', fields, rules);
    const send = (by: EndUser | undefined, slug: string, owner = by?.id) =>
      batch([upsert({ slug, title: 't', owner }, 'ours')], by);
    expect((await send(ada, 'hers')).body.results[0].status).toBe(201);
    expect((await send(ada, 'hers')).body.results[0].status).toBe(200);
    expect((await send(bob, 'hers')).status).toBe(403);
    for (const update of ['owner = @request.auth.id', 'admin']) {
      await made.setRules('ours', { update });
      const [taken, free] = [await send(bob, 'hers', ada?.id), await send(bob, 'free', ada?.id)];
      expect([taken.status, taken.body]).toEqual([free.status, free.body]);
      expect(free.status).toBe(403);
    }
  });

  it('is there for hooks, whose hooks see what happens', async () => {
    const hooks = {
      'all.js': `
        onRecordBeforeCreate('pages', (e) => { e.record.fields.owner = 'create'; });
        onRecordBeforeUpdate('pages', (e) => { e.record.fields.owner = 'update ' + e.previous.fields.owner; });
        routerAdd('POST', '/one', (e) => $app.records.create('pages', { slug: 's', title: 't' }, { on_conflict: 'slug' }));
        routerAdd('POST', '/all', (e) => $app.batch(['s', 'other'].map((slug) =>
          ({ method: 'POST', collection: 'pages', on_conflict: 'slug', body: { slug, title: 'all' } }))));`,
    };
    const own = await scenario({ collections: { pages: fields }, hooks });
    const run = async (path: string) => expectOk(await own.admin.post(`${own.app.path}/custom/${path}`));
    const first = await run('one');
    expect(first.fields.owner).toBe('create');
    expect(await run('one')).toMatchObject({ id: first.id, fields: { owner: 'update create' } });
    const { results } = await run('all');
    expect(results.map(({ status, body }: { status: number; body: { fields: { owner: string } } }) => [
      status,
      body.fields.owner,
    ])).toEqual([[200, 'update update create'], [201, 'create']]);
  });
});
