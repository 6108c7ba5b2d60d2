// Changing collections through HTTP: columns with records in them, and changes that are refused as a whole.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';

let admin: Caller;
let collections: string;

beforeAll(async () => {
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  admin = app.admin;
  collections = `${app.path}/collections`;
});

async function define(id: string, fields: unknown[]): Promise<string> {
  expectOk(await admin.post(collections, { schema: { id, fields } }));
  return `${collections}/${id}`;
}

const title = { name: 'title', kind: 'text' };

describe('a change', () => {
  it('adds, drops and keeps columns with what is in them', async () => {
    const path = await define('changed', [title, { name: 'old', kind: 'number' }]);
    const record = expectOk(await admin.post(`${path}/records`, { title: 'kept', old: 1 }));
    const fields = [{ name: 'fresh', kind: 'text', required: true, default: 'x' }, title];
    expectOk(await admin.patch(`${path}?confirm=drop&fill=default`, { schema: { fields } }));
    const read = await admin.get(`${path}/records/${record.id}`);
    expect(read.body.fields).toEqual({ fresh: 'x', title: 'kept' });
    const next = await admin.post(`${path}/records`, { title: 'after' });
    expect(next.body.fields).toEqual({ fresh: 'x', title: 'after' });
    expect((await admin.post(`${path}/records`, { old: 1 })).body.message).toBe('old: unknown field');
  });

  it('takes a field away only when it is confirmed', async () => {
    const path = await define('confirmed', [title, { name: 'n', kind: 'number' }]);
    const refused = await admin.patch(path, { schema: { fields: [title, { name: 'm', kind: 'number' }] } });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('schema.fields.n: is missing');
    expect((await admin.patch(`${path}?confirm=yes`, { schema: { fields: [title] } })).status).toBe(400);
    expect((await admin.get(path)).body.schema.fields).toHaveLength(2);
  });

  it.each([
    ['another kind', { schema: { fields: [{ name: 'title', kind: 'number' }] } }, 'schema.fields.title.kind'],
    ['another id', { schema: { id: 'other', fields: [title] } }, 'schema.id'],
    ['another kind of collection', { schema: { kind: 'auth', fields: [title] } }, 'schema.kind'],
  ])('cannot give %s', async (name, body, member) => {
    const path = await define(`fixed_${name.length}`, [title]);
    const response = await admin.patch(`${path}?confirm=drop`, body);
    expect(response.status).toBe(400);
    expect(response.body.message).toContain(member);
    expect((await admin.get(path)).body.schema.fields).toEqual([title]);
  });

  it('cannot give what no collection is declared with', async () => {
    const path = await define('declared', [title]);
    const fields = [title, { name: 'id', kind: 'text' }, { name: 'n', kind: 'number', min: 2, max: 1 }];
    const refused = await admin.patch(path, { schema: { fields: [...fields, title] } });
    expect(refused.body).toMatchObject({
      code: 'validation',
      message: [
        'schema.fields.1.name: "id" is a reserved name',
        'schema.fields.n.min: must not be greater than max',
        'schema.fields.3.name: "title" is declared twice',
      ].join('; '),
    });
    expect((await admin.get(path)).body.schema.fields).toEqual([title]);
  });

  it('leaves what a collection and its fields are: ids, kinds and targets', async () => {
    await define('one_target', []);
    await define('other_target', []);
    const relation = { name: 'to', kind: 'relation', target: 'one_target' };
    const path = await define('fixed', [title, relation]);
    const fields = [{ ...title, kind: 'json' }, { ...relation, target: 'other_target' }];
    const refused = await admin.patch(path, { schema: { id: 'renamed', kind: 'auth', fields } });
    expect(refused.body).toMatchObject({
      code: 'validation',
      message: [
        'schema.id: must be "fixed": a collection cannot be renamed',
        'schema.kind: must be "base": it cannot be changed',
        'schema.fields.title.kind: must be "text": it cannot be changed',
        'schema.fields.to.target: must be "one_target": it cannot be changed',
      ].join('; '),
    });
    expect((await admin.get(path)).body.schema).toEqual({
      id: 'fixed',
      kind: 'base',
      fields: [title, relation],
    });
  });

  it('adds a relation to what is there, itself included, and to nothing else', async () => {
    const path = await define('pointing', [title]);
    const to = (target: string) => ({
      schema: { fields: [title, { name: 'to', kind: 'relation', target }] },
    });
    const refused = await admin.patch(path, to('nowhere'));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'schema.fields.to.target: collection "nowhere" does not exist',
    ]);
    expectOk(await admin.patch(path, to('pointing')));
  });

  it('makes a field unique, or says that it cannot be and changes nothing', async () => {
    const path = await define('uniquely', [title]);
    for (const value of ['a', 'a']) expectOk(await admin.post(`${path}/records`, { title: value }));
    const unique = { schema: { fields: [{ ...title, unique: true }, { name: 'more', kind: 'bool' }] } };
    const refused = await admin.patch(path, unique);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('title: ');
    expect(refused.body.errors).toMatchObject([{ path: 'schema.fields.title.unique' }]);
    expect((await admin.get(path)).body.schema.fields).toEqual([title]);
    const [first] = (await admin.get(`${path}/records`)).body.items;
    expectOk(await admin.delete(`${path}/records/${first.id}`));
    expectOk(await admin.patch(path, unique));
    const duplicate = await admin.post(`${path}/records`, { title: 'a' });
    expect(duplicate.body).toMatchObject({
      code: 'conflict',
      message: 'title: another record has this value',
    });
    expectOk(await admin.patch(path, { schema: { fields: [title, { name: 'more', kind: 'bool' }] } }));
    expectOk(await admin.post(`${path}/records`, { title: 'a' }));
  });

  it('indexes a field, unless a value in it is too long for that', async () => {
    const path = await define('indexed', [title]);
    const long = Array.from({ length: 3_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n * 7919) % 20_000))
      .join('');
    const record = expectOk(await admin.post(`${path}/records`, { title: long }));
    expect((await admin.patch(path, { schema: { fields: [{ ...title, index: true }] } })).status).toBe(409);
    expectOk(await admin.patch(`${path}/records/${record.id}`, { title: 'short' }));
    expectOk(await admin.patch(path, { schema: { fields: [{ ...title, index: true }] } }));
    expect((await admin.post(`${path}/records`, { title: long })).body.code).toBe('validation');
  });

  it('sets bounds and requirements for what is written from then on', async () => {
    const path = await define('bounded', [title]);
    const record = expectOk(await admin.post(`${path}/records`, { title: 'x' }));
    expectOk(await admin.patch(path, { schema: { fields: [{ ...title, required: true, min: 2 }] } }));
    expect((await admin.get(`${path}/records/${record.id}`)).body.fields.title).toBe('x');
    expect((await admin.post(`${path}/records`, {})).body.message).toBe('title: is required');
    expect((await admin.patch(`${path}/records/${record.id}`, { title: 'x' })).status).toBe(400);
  });
});
