// Collections through HTTP: what may be declared, what a change does, what is refused and leaves everything as it was.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, type OwnApp, ownWorkspace } from '../../harness/api.ts';

let app: OwnApp;
let admin: Caller;
let collections: string;

beforeAll(async () => {
  const workspace = await ownWorkspace();
  app = await workspace.app();
  admin = app.admin;
  collections = `${app.path}/collections`;
});

async function define(id: string, fields: unknown[]): Promise<string> {
  expectOk(await admin.post(collections, { schema: { id, fields } }));
  return `${collections}/${id}`;
}

const title = { name: 'title', kind: 'text' };

describe('a collection', () => {
  it('answers its schema when it is created, looked at, listed and changed', async () => {
    const fields = [
      { name: 'title', kind: 'text', required: true, min: 1, max: 200, index: true },
      { name: 'price', kind: 'number', min: 0, default: 1.5 },
      { name: 'open', kind: 'bool', default: true, unique: false, cascade_delete: false },
      { name: 'meta', kind: 'json', default: { a: [1, null] } },
      { name: 'due', kind: 'datetime' },
      { name: 'mail', kind: 'email', unique: true },
      { name: 'site', kind: 'url', default: null },
      { name: 'state', kind: 'select', options: ['new', 'done'], default: 'new' },
      { name: 'parent', kind: 'relation', target: 'shown', cascade_delete: true },
      { name: 'owner', kind: 'relation', target: 'users' },
      { name: 'picture', kind: 'file' },
    ];
    const created = await admin.post(collections, { schema: { id: 'shown', kind: 'base', fields } });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      schema: { id: 'shown', kind: 'base', fields },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: created.body.created_at,
    });
    expect((await admin.get(`${collections}/shown`)).body).toEqual(created.body);
    const listed = (await admin.get(collections)).body;
    expect(listed.items).toContainEqual(created.body);
    expect(listed).toMatchObject({ page: 1, per_page: 30, total_items: listed.items.length });
    const changed = await admin.patch(`${collections}/shown`, {
      schema: { id: 'shown', fields: [...fields, { ...title, name: 'more' }] },
    });
    expect(changed.status).toBe(200);
    expect(changed.body.schema.fields).toEqual([...fields, { ...title, name: 'more' }]);
    expect(changed.body.created_at).toBe(created.body.created_at);
    expect(changed.body.updated_at > created.body.updated_at).toBe(true);
    expect((await admin.get(`${collections}/shown`)).body).toEqual(changed.body);
  });

  it('is refused as a duplicate, and the one that exists stays', async () => {
    const path = await define('twice', [title]);
    const again = await admin.post(collections, { schema: { id: 'twice', fields: [] } });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      code: 'conflict',
      errors: [{ path: 'schema.id', code: 'taken', message: 'collection "twice" already exists' }],
    });
    expect((await admin.get(path)).body.schema.fields).toEqual([title]);
  });

  it('is gone when it is deleted, and can be made anew, empty', async () => {
    const path = await define('gone', [title]);
    expectOk(await admin.post(`${path}/records`, { title: 'x' }));
    expect((await admin.delete(path)).body).toEqual({ ok: true });
    expect((await admin.get(path)).status).toBe(404);
    expect((await admin.get(`${path}/records`)).status).toBe(404);
    expect(await admin.delete(path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    await define('gone', [{ name: 'title', kind: 'number' }]);
    expect((await admin.get(`${path}/records`)).body.total_items).toBe(0);
    expect((await admin.post(`${path}/records`, { title: 7 })).body.fields).toEqual({ title: 7 });
  });

  it('cannot be deleted while another one points to it', async () => {
    const path = await define('pointed', [{ name: 'self', kind: 'relation', target: 'pointed' }]);
    const other = await define('pointing', [{ name: 'to', kind: 'relation', target: 'pointed' }]);
    const refused = await admin.delete(path);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('pointing.to');
    expectOk(await admin.delete(other));
    expectOk(await admin.delete(path));
  });

  it('is written down in the audit of the app with every change', async () => {
    const path = await define('audited', [title]);
    expectOk(
      await admin.patch(`${path}?confirm=drop`, { schema: { fields: [{ name: 'n', kind: 'number' }] } }),
    );
    expectOk(await admin.delete(path));
    const { items } = (await admin.get(`${app.path}/audit?action=collection_`)).body;
    const about = items.filter(({ target }: { target: string }) => target === 'audited');
    expect(about.map(({ action }: { action: string }) => action))
      .toEqual(['collection_delete', 'collection_update', 'collection_create']);
    expect(about[1].details).toEqual({
      added: ['n'],
      dropped: ['title'],
      changed: [],
      from: [],
      to: [],
      request_id: expect.any(String),
      ip: '127.0.0.1',
      user_agent: 'node',
    });
    expect(about[0].actor).toContain('@example.com');
  });

  it('is nobody else’s business', async () => {
    expect((await as().get(collections)).status).toBe(401);
    const stranger = await ownWorkspace();
    expect((await stranger.admin.get(collections)).status).toBe(403);
    expect((await stranger.admin.post(collections, { schema: { id: 'x', fields: [] } })).status).toBe(403);
  });
});

describe('a declaration is refused', () => {
  it.each<[string, unknown, string]>([
    ['without a schema', {}, 'schema: is required'],
    ['with an unknown member', { schema: { id: 'x', fields: [], rules: {} } }, 'schema.rules: unknown field'],
    [
      'with an unknown field setting',
      { schema: { id: 'x', fields: [{ ...title, size: 1 }] } },
      'schema.fields.0.size: unknown field',
    ],
    [
      'with an unknown kind',
      { schema: { id: 'x', fields: [{ name: 'a', kind: 'blob' }] } },
      'schema.fields.0.kind',
    ],
    [
      'as a view with fields',
      { schema: { id: 'x', kind: 'view', fields: [], query: 'select 1' } },
      'schema.fields: must be left out',
    ],
    ['as a view without a query', { schema: { id: 'x', kind: 'view' } }, 'schema.query: is required'],
    ['without fields', { schema: { id: 'x' } }, 'schema.fields: is required'],
    [
      'with a query that is for views',
      { schema: { id: 'x', fields: [title], query: 'select 1' } },
      'schema.query: is for views',
    ],
    ['with a field twice', { schema: { id: 'x', fields: [title, title] } }, '"title" is declared twice'],
    [
      'with options on a text',
      { schema: { id: 'x', fields: [{ ...title, options: ['a'] }] } },
      'schema.fields.title.options: is not a setting of text fields',
    ],
    [
      'with bounds on a bool',
      { schema: { id: 'x', fields: [{ name: 'b', kind: 'bool', min: 1 }] } },
      'schema.fields.b.min',
    ],
    [
      'with a unique json',
      { schema: { id: 'x', fields: [{ name: 'j', kind: 'json', unique: true }] } },
      'schema.fields.j.unique',
    ],
    [
      'with a default of another type',
      { schema: { id: 'x', fields: [{ ...title, default: 1 }] } },
      'schema.fields.title.default: must be a string',
    ],
    [
      'with a default out of bounds',
      { schema: { id: 'x', fields: [{ ...title, max: 1, default: 'ab' }] } },
      'schema.fields.title.default',
    ],
    ['with a default that is no option', {
      schema: { id: 'x', fields: [{ name: 's', kind: 'select', options: ['a'], default: 'b' }] },
    }, 'schema.fields.s.default'],
    ['with a relation to nothing', {
      schema: { id: 'x', fields: [{ name: 'r', kind: 'relation', target: 'nowhere' }] },
    }, 'schema.fields.r.target: collection "nowhere" does not exist'],
    [
      'with a field that PostgreSQL has',
      { schema: { id: 'x', fields: [{ name: 'xmin', kind: 'text' }] } },
      'schema.fields.0.name',
    ],
    ['with 501 fields', {
      schema: { id: 'x', fields: Array.from({ length: 501 }, (_, n) => ({ name: `f${n}`, kind: 'bool' })) },
    }, 'must have at most 500 items'],
  ])('%s', async (_, body, message) => {
    const response = await admin.post(collections, body);
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('validation');
    expect(response.body.message).toContain(message);
    expect((await admin.get(`${collections}/x`)).status).toBe(404);
  });

  it('with everything that is wrong at once', async () => {
    const response = await admin.post(collections, {
      schema: {
        id: '1x',
        fields: [{ name: 'id', kind: 'text' }, { name: 'n', kind: 'number', min: 2, max: 1 }],
      },
    });
    expect(response.body.message.split('; ').map((part: string) => part.split(':')[0]))
      .toEqual(['schema.id', 'schema.fields.0.name', 'schema.fields.n.min']);
  });
});
