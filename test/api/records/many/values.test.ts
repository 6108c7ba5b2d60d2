// Fields that hold many values: what they take, and what they look like.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type Scenario, scenario, title, titlesOf } from '../../../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let notes: string;

const tags = { name: 'tags', kind: 'select', options: ['red', 'green', 'blue', 'a "b"\\{,}'], many: true };

const file = { kind: 'file', many: true };

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  notes = await app.define('notes', [title, tags, {
    ...tags,
    name: 'few',
    min: 2,
    max: 3,
    default: ['green', 'red'],
  }, { ...tags, name: 'some', required: true }]);
});

async function create(values: Record<string, unknown>): Promise<ApiResponse> {
  return await admin.post(notes, { some: ['red'], ...values });
}

describe('a select of many', () => {
  it('keeps the order of its items, each once', async () => {
    const order = ['blue', 'a "b"\\{,}', 'red', 'blue', 'red'];
    const { id, fields } = expectOk(await create({ tags: order }));
    expect(fields).toEqual({
      title: null,
      tags: ['blue', 'a "b"\\{,}', 'red'],
      few: ['green', 'red'],
      some: ['red'],
    });
    expect(expectOk(await admin.get(`${notes}/${id}`)).fields).toEqual(fields);
    const changed = expectOk(await admin.patch(`${notes}/${id}`, { tags: ['red', 'blue'], few: null }));
    expect(changed.fields).toMatchObject({ tags: ['red', 'blue'], few: [] });
  });

  it('is empty and never null, and a change that changes nothing leaves the record as it is', async () => {
    const { id, fields, updated_at } = expectOk(await create({ tags: null }));
    expect(fields.tags).toEqual([]);
    const same = expectOk(await admin.patch(`${notes}/${id}`, { tags: [], some: ['red', 'red'] }));
    expect(same.updated_at).toBe(updated_at);
  });

  it.each([
    ['tags', 'red', 'must be an array'],
    ['tags', ['red', 'pink'], 'item 1 must be one of red, green, blue'],
    ['tags', [null], 'item 0 must be one of red, green, blue'],
    ['tags', [['red']], 'item 0 must be one of red, green, blue'],
    ['few', ['red', 'red'], 'must have at least 2 items'],
    ['few', ['red', 'green', 'blue', 'a "b"\\{,}'], 'must have at most 3 items'],
    ['some', [], 'must have at least 1 item'],
    ['some', null, 'required'],
  ])('refuses %s: %j', async (field, value, reason) => {
    const refused = await create({ [field]: value });
    expectError(refused, 400, 'validation');
    expect(refused.body.errors).toEqual([
      expect.objectContaining({ path: field, message: expect.stringContaining(reason) }),
    ]);
  });

  it('is found by any of its items, and not by one that it lacks', async () => {
    const list = await app.define('found', [title, tags, { ...tags, name: 'others' }]);
    await app.make(list, { title: 'both', tags: ['red', 'blue'], others: ['blue'] });
    await app.make(list, { title: 'one', tags: ['blue'], others: ['red'] });
    await app.make(list, { title: 'none' });
    const found = async (filter: string) =>
      titlesOf(await admin.get(`${list}?sort=title&filter=${encodeURIComponent(filter)}`));
    expect(await found("tags = 'red'")).toEqual(['both']);
    expect(await found("tags != 'red'")).toEqual(['none', 'one']);
    expect(await found("tags ~ 'B%'")).toEqual(['both', 'one']);
    expect(await found("tags !~ 'l'")).toEqual(['none']);
    expect(await found("tags in ['red', 'green']")).toEqual(['both']);
    expect(await found('tags = others')).toEqual(['both']);
    expect(await found('tags = null')).toEqual(['none']);
    expect(await found('tags != null')).toEqual(['both', 'one']);
    expect(await found("!(tags = 'blue')")).toEqual(['none']);
  });

  it.each([
    ["tags > 'a'", '"tags" has many values, which ">" does not compare'],
    ["tags(title = 'a')", '"tags" has values, and takes no condition in parentheses'],
  ])('refuses the filter %s', async (filter, message) => {
    const refused = await admin.get(`${notes}?filter=${encodeURIComponent(filter)}`);
    expectError(refused, 400, 'parse_error');
    expect(refused.body.message).toContain(message);
  });

  it('has no order to sort by, and makes no groups', async () => {
    expectError(await admin.get(`${notes}?sort=-tags`), 400, 'validation');
    expectError(await admin.get(`${notes}/aggregate?fn=count&group=tags`), 400, 'validation');
    expectError(await admin.get(`${notes}/aggregate?fn=max(tags)`), 400, 'validation');
  });
});

describe('a declaration of many', () => {
  it.each([
    [{ kind: 'text', many: true }, 'many', 'is not a setting of text fields'],
    [{ ...file, unique: true }, 'unique', 'is not a setting of file fields of many'],
    [{ ...file, many: false, min: 1 }, 'min', 'is not a setting of file fields'],
    [{ ...tags, min: 3, max: 2 }, 'min', 'must not be greater than max, 2'],
    [{ ...tags, min: 101 }, 'min', 'must not be greater than max, 100'],
    [{ ...tags, max: 1001 }, 'max', 'must be a number of items from 1 to 1000'],
    [{ ...tags, max: 0 }, 'max', 'must be a number of items from 1 to 1000'],
    [{ ...tags, default: 'red' }, 'default', 'must be an array'],
    [{ ...tags, default: ['pink'] }, 'default', 'item 0 must be one of'],
  ])('refuses %j', async (field, setting, reason) => {
    const fields = [{ ...field, name: 'field' }];
    const refused = await admin.post(app.collections, { schema: { id: 'refused', fields } });
    expectError(refused, 400, 'validation');
    expect(refused.body.errors).toEqual([
      expect.objectContaining({
        path: `schema.fields.field.${setting}`,
        message: expect.stringContaining(reason),
      }),
    ]);
  });

  it('takes 100 items unless it says otherwise', async () => {
    const members = { name: 'members', kind: 'relation', target: 'notes', many: true };
    const list = await app.define('hundred', [members]);
    const refused = await admin.post(list, { members: Array.from({ length: 101 }, () => randomUUID()) });
    expect(refused.body.message).toBe('members: must have at most 100 items');
  });

  it('is how a field of one value goes on, which then is the only item; and not the other way', async () => {
    const { many: _, ...one } = tags;
    const author = { name: 'author', kind: 'relation', target: 'notes', index: true };
    const list = await app.define('grown', [title, one, { ...author, unique: true }]);
    const note = await app.make(notes, { title: 'target', some: ['red'] });
    const id = await app.make(list, { tags: 'red', author: note });
    const empty = await app.make(list, {});
    const fields = [title, tags, { ...author, many: true }];
    expectOk(await admin.patch(`${app.collections}/grown`, { schema: { fields } }));
    expect(expectOk(await admin.get(`${list}/${id}`)).fields).toMatchObject({
      tags: ['red'],
      author: [note],
    });
    expect(expectOk(await admin.get(`${list}/${empty}`)).fields).toMatchObject({ tags: [], author: [] });
    expectOk(await admin.delete(`${notes}/${note}`));
    expect(expectOk(await admin.get(`${list}/${id}`)).fields).toMatchObject({ tags: ['red'], author: [] });
    const back = await admin.patch(`${app.collections}/grown`, { schema: { fields: [title, tags, author] } });
    expectError(back, 400, 'validation');
    expect(back.body.message).toBe(
      'schema.fields.author.many: must be true: records may hold more than one value',
    );
  });

  it('is required, or loses options, only where records admit it', async () => {
    const list = await app.define('narrowed', [title, tags]);
    await app.make(list, {});
    const id = await app.make(list, { tags: ['blue', 'red'] });
    const alter = async (field: object, query = '') =>
      await admin.patch(`${app.collections}/narrowed${query}`, { schema: { fields: [title, field] } });
    const [needed, fewer] = [{ ...tags, required: true }, { ...tags, options: ['red', 'green'] }];
    for (const field of [needed, fewer]) expectError(await alter(field), 409, 'conflict');
    expectOk(await alter({ ...needed, default: ['green'] }, '?fill=default'));
    expectOk(await admin.patch(`${list}/${id}`, { tags: ['red'] }));
    expectOk(await alter(fewer));
    const all = expectOk(await admin.get(`${list}?sort=created_at`)).items;
    expect(all.map(({ fields }: { fields: { tags: string[] } }) => fields.tags)).toEqual([['green'], [
      'red',
    ]]);
    const more = { ...tags, name: 'more', default: ['red'] };
    const path = `${app.collections}/narrowed?fill=default`;
    expectOk(await admin.patch(path, { schema: { fields: [title, fewer, more] } }));
    expect(expectOk(await admin.get(`${list}/${id}`)).fields.more).toEqual(['red']);
  });

  it('gets another name, with what it points to', async () => {
    const members = { name: 'members', kind: 'relation', target: 'notes', many: true };
    const list = await app.define('renamed', [title, members], { list: "members(title = 'a')" });
    const note = await app.make(notes, { title: 'a', some: ['red'] });
    const id = await app.make(list, { title: 'one', members: [note] });
    const fields = [title, { ...members, name: 'people', was: 'members' }];
    expectOk(await admin.patch(`${app.collections}/renamed`, { schema: { fields } }));
    expect(titlesOf(await (await app.user()).get(list))).toEqual(['one']);
    expectOk(await admin.delete(`${notes}/${note}`));
    expect(expectOk(await admin.get(`${list}/${id}`)).fields.people).toEqual([]);
  });

  it('adds a field to a collection with records, and drops it again', async () => {
    const list = await app.define('changing', [title]);
    const id = await app.make(list, {});
    const members = { name: 'members', kind: 'relation', target: 'notes', many: true };
    expectOk(
      await admin.patch(`${app.collections}/changing`, { schema: { fields: [title, tags, members] } }),
    );
    expect(expectOk(await admin.get(`${list}/${id}`)).fields).toEqual({ title: null, tags: [], members: [] });
    const note = await app.make(notes, { some: ['red'] });
    expectOk(await admin.patch(`${list}/${id}`, { members: [note], tags: ['red'] }));
    const cascading = [title, tags, { ...members, cascade_delete: true }];
    expectOk(await admin.patch(`${app.collections}/changing`, { schema: { fields: cascading } }));
    const path = `${app.collections}/changing?confirm=drop`;
    expectOk(await admin.patch(path, { schema: { fields: [title] } }));
    expectOk(await admin.delete(`${notes}/${note}`));
    expect(expectOk(await admin.get(`${list}/${id}`)).fields).toEqual({ title: null });
    expectOk(await admin.patch(path, { schema: { fields: [title, members] } }));
    expectOk(await admin.delete(`${app.collections}/changing`));
  });
});
