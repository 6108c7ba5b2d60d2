// Records through HTTP: written, read, changed, deleted; and what is refused leaves them as they were.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, type OwnApp } from '../../harness/api.ts';
import { upload } from '../../harness/file-app.ts';
import { scenario } from '../../harness/scenario.ts';

let app: OwnApp;
let admin: Caller;
let records: string;

const uuid = '018f3c6e-1111-7000-8000-0123456789ab';
const v7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const fields = [
  { name: 'title', kind: 'text', required: true, max: 100 },
  { name: 'price', kind: 'number', min: 0 },
  { name: 'open', kind: 'bool' },
  { name: 'meta', kind: 'json' },
  { name: 'due', kind: 'datetime' },
  { name: 'mail', kind: 'email', unique: true },
  { name: 'site', kind: 'url' },
  { name: 'state', kind: 'select', options: ['new', 'done'], default: 'new' },
  { name: 'parent', kind: 'relation', target: 'things' },
  { name: 'picture', kind: 'file' },
];

const empty = Object.fromEntries(fields.map(({ name }) => [name, null]));

beforeAll(async () => {
  const made = await scenario({ collections: { things: fields } });
  ({ app, admin } = made);
  records = made.records('things');
});

async function create(
  values: Record<string, unknown> = {},
): Promise<{ id: string; fields: Record<string, unknown> }> {
  return expectOk(await admin.post(records, { title: 'A thing', ...values }));
}

describe('a record', () => {
  it('keeps a value of every kind, and responds with all fields', async () => {
    const parent = await create();
    const picture = await upload(admin, app, 'a picture');
    const values = {
      title: 'Ünï\n\'quoted\' "text" 😀',
      price: 0.1 + 0.2,
      open: false,
      meta: { list: [1, 'a', null, { deep: true }], empty: {}, text: '\\u0041' },
      due: '2026-01-02T03:04:05.678+01:00',
      mail: 'Someone@Example.com',
      site: 'https://example.com/a?b=c#d',
      state: 'done',
      parent: parent.id,
      picture: picture.id,
    };
    const created = await admin.post(records, values);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(v7),
      collection: 'things',
      fields: { ...values, due: '2026-01-02T02:04:05.678Z', mail: 'someone@example.com' },
      created_at: expect.stringMatching(instant),
      updated_at: created.body.created_at,
    });
    expect((await admin.get(`${records}/${created.body.id}`)).body).toEqual(created.body);
    const listed = expectOk(await admin.get(`${records}?per_page=200`));
    expect(listed.items).toContainEqual(created.body);
  });

  it('has null for every field that was left out, but defaults', async () => {
    expect((await create()).fields).toEqual({ ...empty, title: 'A thing', state: 'new' });
    expect((await create({ state: null })).fields['state']).toBeNull();
  });

  it('keeps any JSON value', async () => {
    for (const meta of [0, -1.5, '', 'text', true, false, [], {}, [null], { a: { b: [[]] } }, 1e300]) {
      const { id } = await create({ meta });
      expect((await admin.get(`${records}/${id}`)).body.fields.meta).toEqual(meta);
    }
  });

  it('changes where the body says so, and nowhere else', async () => {
    const before = await create({ price: 1, open: true, meta: [1], state: 'done' });
    const changed = await admin.patch(`${records}/${before.id}`, { price: 2, open: null, meta: { a: 1 } });
    expect(changed.status).toBe(200);
    expect(changed.body.fields).toEqual({ ...before.fields, price: 2, open: null, meta: { a: 1 } });
    const again = expectOk(await admin.patch(`${records}/${before.id}`, { state: null }));
    expect(again.fields).toEqual({ ...changed.body.fields, state: null });
    expect(again.created_at).toBe(changed.body.created_at);
    expect(again.updated_at >= changed.body.updated_at).toBe(true);
    expect((await admin.get(`${records}/${before.id}`)).body).toEqual(again);
    expect((await admin.patch(`${records}/${before.id}`, {})).body.fields).toEqual(again.fields);
  });

  it('is deleted once', async () => {
    const { id } = await create();
    expect(await admin.delete(`${records}/${id}`)).toMatchObject({ status: 200, body: { ok: true } });
    const missing = { status: 404, body: { code: 'not_found', message: `record "${id}" does not exist` } };
    expect(await admin.delete(`${records}/${id}`)).toMatchObject(missing);
    expect(await admin.get(`${records}/${id}`)).toMatchObject(missing);
    expect(await admin.patch(`${records}/${id}`, { title: 'x' })).toMatchObject(missing);
  });

  it('that does not exist is 404 whatever its id looks like and whatever the body says', async () => {
    for (const id of [randomUUID(), 'x', '1', "'", '%00', '..%2f', '%F0%9F%98%80', 'a'.repeat(500)]) {
      expect((await admin.get(`${records}/${id}`)).status, id).toBe(404);
      expect((await admin.delete(`${records}/${id}`)).status, id).toBe(404);
      expect((await admin.patch(`${records}/${id}`, { nonsense: 1 })).status, id).toBe(404);
    }
  });

  it('takes upper-case ids for what they are', async () => {
    const id = randomUUID();
    expect((await create({ id: id.toUpperCase() })).id).toBe(id);
    expect((await admin.get(`${records}/${id.toUpperCase()}`)).body.id).toBe(id);
  });

  it('is refused for a unique value that another one has, in any case', async () => {
    const mail = `${randomUUID()}@example.com`;
    await create({ mail });
    const other = await create();
    const conflict = {
      status: 409,
      body: { code: 'conflict', message: 'mail: another record has this value' },
    };
    expect(await admin.post(records, { title: 'x', mail: mail.toUpperCase() })).toMatchObject(conflict);
    expect(await admin.patch(`${records}/${other.id}`, { mail })).toMatchObject(conflict);
    await create({ mail: null });
    await create({ mail: null });
  });

  it('is for admins of the app only', async () => {
    const { id } = await create();
    const anonymous = as();
    expect((await anonymous.get(records)).status).toBe(401);
    expect((await anonymous.post(records, { title: 'x' })).status).toBe(401);
    expect((await anonymous.get(`${records}/${id}`)).status).toBe(401);
    expect((await anonymous.delete(`${records}/${id}`)).status).toBe(401);
    expect((await admin.get(`${records}/${id}`)).status).toBe(200);
  });
});

describe('record.strict-types', () => {
  it.each<[string, unknown, string]>([
    ['title', 1, 'must be a string'],
    ['title', ['a'], 'must be a string'],
    ['title', { a: 1 }, 'must be a string'],
    ['title', null, 'is required'],
    ['title', 'x'.repeat(101), 'must have at most 100 characters'],
    ['price', '1', 'must be a number'],
    ['price', [1], 'must be a number'],
    ['price', -0.001, 'must be at least 0'],
    ['open', 'true', 'must be true or false'],
    ['open', 1, 'must be true or false'],
    ['due', 1_767_000_000, 'must be a date and time'],
    ['due', '2026-02-30T00:00:00Z', 'must be a date and time'],
    ['mail', ['a@b.c'], 'must be a string'],
    ['mail', 'not an email', 'must be an email address'],
    ['site', 'javascript:alert(1)', 'must be an http or https URL'],
    ['state', 'other', 'must be one of new, done'],
    ['state', ['new'], 'must be one of new, done'],
    ['parent', { id: uuid }, 'must be the id (UUID) of a record'],
    ['parent', uuid, 'there is no record with this id'],
    ['picture', uuid, 'there is no file with this id'],
    ['picture', 'x', 'must be the id (UUID) of a file'],
    ['nonsense', 1, 'unknown field'],
    ['created_at', '2026-01-01T00:00:00Z', 'unknown field'],
    ['collection', 'things', 'unknown field'],
    ['fields', {}, 'unknown field'],
    ['constructor', 1, 'unknown field'],
  ])('record.strict-types: %s cannot be %j', async (name, value, reason) => {
    const { id, fields: before } = await create();
    const count = expectOk(await admin.get(`${records}?per_page=1`)).total_items;
    for (
      const response of [
        await admin.post(records, { title: 'x', [name]: value }),
        await admin.patch(`${records}/${id}`, { [name]: value }),
      ]
    ) {
      expect(response.status).toBe(400);
      expect(response.body).toMatchObject({
        code: 'validation',
        message: expect.stringContaining(`${name}: ${reason}`),
        errors: [{ path: name, message: expect.stringContaining(reason) }],
      });
    }
    expect(expectOk(await admin.get(`${records}?per_page=1`)).total_items).toBe(count);
    expect(expectOk(await admin.get(`${records}/${id}`)).fields).toEqual(before);
  });

  it('record.strict-types: one error names everything that is wrong', async () => {
    const response = await admin.post(records, { price: 'x', open: 0, other: 1, id: 'y' });
    const named = response.body.message.split('; ').map((part: string) => part.split(': ')[0]);
    expect(named.sort()).toEqual(['id', 'open', 'other', 'price', 'title']);
  });

  it('record.strict-types: an id cannot be changed', async () => {
    const { id } = await create();
    expect((await admin.patch(`${records}/${id}`, { id: randomUUID() })).body.message).toBe(
      'id: unknown field',
    );
  });
});

describe('record.idempotent-id', () => {
  it('record.idempotent-id: the same id again is 409, and the stored record is unchanged', async () => {
    const id = randomUUID();
    const first = await create({ id, price: 1 });
    expect(first.id).toBe(id);
    const again = await admin.post(records, { id, title: 'other', price: 2 });
    expect(again.status).toBe(409);
    expect(again.body.code).toBe('conflict');
    expect((await admin.get(`${records}/${id}`)).body).toEqual(first);
  });

  it('record.idempotent-id: of 50 parallel creates exactly one wins', async () => {
    const id = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => admin.post(records, { id, title: `try ${n}` })),
    );
    const won = responses.filter(({ status }) => status === 201);
    expect(won).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(49);
    expect((await admin.get(`${records}/${id}`)).body).toEqual(won[0]?.body);
  });

  it.each<unknown>([
    '',
    'x',
    1,
    null,
    [],
    {},
    { toString: 1 },
    `{${uuid}}`,
    uuid.replaceAll('-', ''),
    `${uuid} `,
  ])(
    'record.idempotent-id: %j is no id',
    async (id) => {
      const response = await admin.post(records, { id, title: 'x' });
      expect(response.status).toBe(400);
      expect(response.body.message).toBe('id: must be a UUID');
    },
  );
});
