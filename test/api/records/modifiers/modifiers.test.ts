// Updates that say how fields change from what they are: `count+`, `tags-`.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type EndUser, owner, type Scenario, scenario, title } from '../../../harness/scenario.ts';

const count = { name: 'count', kind: 'number', min: 0, max: 1_000 };
const tags = { name: 'tags', kind: 'select', options: ['a', 'b', 'c', 'd'], many: true, max: 3 };
const people = { name: 'people', kind: 'relation', target: 'people', many: true };
const times = 100;

let app: Scenario;
let admin: Caller;
let ada: EndUser;
let bob: EndUser;
let posts: string;

beforeAll(async () => {
  app = await scenario({
    collections: {
      people: [title, owner],
      posts: [title, count, tags, people, { ...tags, name: 'kept', required: true, default: ['a'] }, owner],
      hooked: [count, tags, { name: 'seen', kind: 'number' }],
      journal: [{ name: 'what', kind: 'json' }],
    },
    rules: { people: { get: 'owner = @request.auth.id' } },
    hooks: {
      'modifiers.ts': `
        onRecordBeforeUpdate('hooked', (e) => {
          e.record.fields.seen = e.record.fields.count;
          if (e.record.fields.tags.includes('d')) e.record.fields.count = 500;
        });
        routerAdd('POST', '/add/:id', async (e) => await $app.records.update('posts', e.params.id, { 'count+': 2, 'tags+': ['b'] }));`,
    },
  });
  ({ admin } = app);
  [ada, bob] = [await app.user(), await app.user()];
  posts = app.records('posts');
});

async function change(id: string, values: object, caller = admin) {
  return await caller.patch(`${posts}/${id}`, values);
}

async function fieldsOf(id: string, records = posts): Promise<Record<string, unknown>> {
  return expectOk(await admin.get(`${records}/${id}`)).fields;
}

describe('modifiers', () => {
  it('add to a number, which counts as 0 where there is none, and take away from it', async () => {
    const id = await app.make(posts, {});
    expect(expectOk(await change(id, { 'count+': 5 })).fields.count).toBe(5);
    expect(expectOk(await change(id, { 'count-': 2, title: 'new' })).fields).toMatchObject({
      count: 3,
      title: 'new',
    });
    expect(expectOk(await change(id, { 'count+': 0.5 })).fields.count).toBe(3.5);
  });

  it('add items at the end and take items away', async () => {
    const id = await app.make(posts, { tags: ['b'] });
    expect(expectOk(await change(id, { 'tags+': ['c', 'b', 'a'] })).fields.tags).toEqual(['b', 'c', 'a']);
    expect(expectOk(await change(id, { 'tags-': ['c', 'd'] })).fields.tags).toEqual(['b', 'a']);
    expect(expectOk(await change(id, { 'tags+': ['d'], 'tags-': ['b'] })).fields.tags).toEqual(['a', 'd']);
    expect(expectOk(await change(id, { 'tags-': 'a' })).fields.tags).toEqual(['d']);
  });

  it('that change nothing leave the record as it is', async () => {
    const id = await app.make(posts, { tags: ['b'], count: 1 });
    const before = expectOk(await admin.get(`${posts}/${id}`));
    expect(expectOk(await change(id, { 'tags+': ['b'], 'count+': 0 }))).toEqual(before);
  });

  it.each([
    [{ 'count+': 998 }, 'count: must be at most 1000'],
    [{ 'count-': 4 }, 'count: must be at least 0'],
    [{ 'count+': '1' }, 'count+: must be a number'],
    [{ 'count+': null }, 'count+: must be a number'],
    [{ 'count+': 1, count: 1 }, 'count+: cannot stand beside "count"'],
    [{ 'tags+': ['c', 'd'] }, 'tags: must have at most 3 items'],
    [{ 'tags+': ['x'] }, 'tags+: item 0 must be one of a, b, c, d'],
    [{ 'kept-': ['a'] }, 'kept: must have at least 1 item'],
    [{ 'people+': [randomUUID()] }, 'people: there is no record with this id'],
    [{ 'title+': 'x' }, 'title+: is for number fields and fields of many, and "title" is neither'],
    [{ 'nothing+': 1 }, 'nothing+: unknown field'],
    [{ 'count+': 'x', nothing: 1 }, 'count+: must be a number; nothing: unknown field'],
  ])('%j is refused, and nothing changes', async (values, message) => {
    const id = await app.make(posts, { count: 3, tags: ['a', 'b'] });
    const refused = await change(id, values);
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe(message);
    expect(await fieldsOf(id)).toMatchObject({ count: 3, tags: ['a', 'b'], kept: ['a'], people: [] });
  });

  it('are for records that are there', async () => {
    expectError(await change(randomUUID(), { 'count+': 1 }), 404, 'not_found');
    const created = await admin.post(posts, { 'count+': 1 });
    expect(created.body.message).toBe('count+: unknown field');
  });

  it('lose nothing under load, however they are sent', async () => {
    const id = await app.make(posts, {});
    const many = await app.define('crowds', [{ ...people, name: 'all' }]);
    const crowd = await app.make(many, {});
    const all = await Promise.all(
      Array.from({ length: times / 2 }, () => app.make(app.records('people'), {})),
    );
    const batch = (values: object) =>
      admin.post(`${app.app.path}/batch`, {
        requests: [
          { method: 'PATCH', collection: 'posts', id, body: values },
          { method: 'PATCH', collection: 'posts', id, body: values },
        ],
      });
    const responses = await Promise.all([
      ...Array.from({ length: times }, () => change(id, { 'count+': 1 })),
      ...Array.from({ length: times / 5 }, () => batch({ 'count+': 1 })),
      ...Array.from({ length: times / 5 }, () => admin.post(`${app.app.path}/custom/add/${id}`, {})),
      ...all.map((each) => admin.patch(`${many}/${crowd}`, { 'all+': [each] })),
    ]);
    for (const response of responses) expectOk(response);
    expect(await fieldsOf(id)).toMatchObject({ count: times + 2 * times / 5 + 2 * times / 5, tags: ['b'] });
    expect((await fieldsOf(crowd, many))['all']).toHaveLength(all.length);
  });
});

describe('modifiers and hooks', () => {
  it('before-hooks see the result, and what they set counts', async () => {
    const hooked = app.records('hooked');
    const id = await app.make(hooked, { count: 1 });
    const changed = expectOk(await admin.patch(`${hooked}/${id}`, { 'count+': 2 }));
    expect(changed.fields).toEqual({ count: 3, tags: [], seen: 3 });
    const set = expectOk(await admin.patch(`${hooked}/${id}`, { 'count+': 2, 'tags+': ['d'] }));
    expect(set.fields).toEqual({ count: 500, tags: ['d'], seen: 5 });
  });

  it('lose nothing under load', async () => {
    const hooked = app.records('hooked');
    const id = await app.make(hooked, {});
    const responses = await Promise.all(
      Array.from({ length: times }, () => admin.patch(`${hooked}/${id}`, { 'count+': 1 })),
    );
    for (const response of responses) expectOk(response);
    expect(await fieldsOf(id, hooked)).toEqual({ count: times, tags: [], seen: times });
  });
});

describe('modifiers and rules', () => {
  it('are for rules the values that they make', async () => {
    const list = await app.define('ruled', [count, tags, title], {
      update:
        '@request.body.title = null && (@request.body.count = null || @request.body.count <= 2) && title != "closed"',
    });
    const id = await app.make(list, { count: 1 });
    const by = async (values: object, caller: Caller = ada) => await caller.patch(`${list}/${id}`, values);
    expectOk(await by({ 'count+': 1 }));
    expectError(await by({ 'count+': 1 }), 403, 'forbidden');
    expectOk(await by({ 'tags+': ['a'] }));
    expectError(await by({ 'count+': 1 }, as()), 401, 'unauthorized');
    expectOk(await admin.patch(`${list}/${id}`, { title: 'closed' }));
    // The limits of the result would say what the record has.
    for (const added of [1, 999]) expectError(await by({ 'count+': added }), 403, 'forbidden');
    expect(await fieldsOf(id, list)).toEqual({ count: 2, tags: ['a'], title: 'closed' });
  });

  it('add only what their caller may read, and leave the rest', async () => {
    const list = await app.define('shared', [people], { update: 'auth' });
    const [hers, his] = [
      await app.make(app.records('people'), { owner: ada.id }),
      await app.make(app.records('people'), { owner: bob.id }),
    ];
    const id = await app.make(list, { people: [his] });
    expectOk(await ada.patch(`${list}/${id}`, { 'people+': [hers] }));
    expect(await fieldsOf(id, list)).toEqual({ people: [his, hers] });
    expectOk(await ada.patch(`${list}/${id}`, { 'people-': [his] }));
    const [there, notThere] = [
      await ada.patch(`${list}/${id}`, { 'people+': [his] }),
      await ada.patch(`${list}/${id}`, { 'people+': [randomUUID()] }),
    ];
    expectError(there, 400, 'validation');
    expect(there.body).toEqual(notThere.body);
    expect(await fieldsOf(id, list)).toEqual({ people: [hers] });
  });
});
