// The members that an error is about: `errors` of its response, beside `code` and `message`.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { type Scenario, scenario } from '../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let posts: string;

beforeAll(async () => {
  app = await scenario({
    collections: {
      posts: [
        { name: 'title', kind: 'text', required: true },
        { name: 'slug', kind: 'text', unique: true },
        { name: 'price', kind: 'number', min: 0 },
        { name: 'parent', kind: 'relation', target: 'posts' },
        { name: 'owner', kind: 'relation', target: 'users' },
      ],
    },
    rules: { posts: { create: 'auth', get: 'owner = @request.auth.id' } },
  });
  ({ admin } = app);
  posts = app.records('posts');
});

function expectErrors(
  response: ApiResponse,
  status: number,
  errors: Record<string, [code: string, message: string]>,
) {
  expectError(response, status, status === 409 ? 'conflict' : 'validation');
  expect(response.body.errors).toEqual(
    Object.entries(errors).map(([path, [code, message]]) => ({ path, code, message })),
  );
}

describe('errors of a record', () => {
  it('name each wrong field, with a code for programs and a message for people', async () => {
    const response = await admin.post(posts, { price: -1, slug: 5, colour: 'red', id: 'x' });
    expectErrors(response, 400, {
      id: ['invalid', 'must be a UUID'],
      colour: ['unknown', 'unknown field'],
      title: ['required', 'is required'],
      slug: ['invalid', 'must be a string'],
      price: ['invalid', 'must be at least 0'],
    });
    expect(response.body.message).toBe(
      'id: must be a UUID; colour: unknown field; title: is required; slug: must be a string; price: must be at least 0',
    );
    const id = await app.make(posts, { title: 'a' });
    expectErrors(await admin.patch(`${posts}/${id}`, { title: null, price: 'x' }), 400, {
      title: ['required', 'is required'],
      price: ['invalid', 'must be a number'],
    });
  });

  it('name the unique value that is taken, be it the id', async () => {
    const slug = randomUUID();
    const id = await app.make(posts, { title: 'a', slug });
    const other = await app.make(posts, { title: 'b' });
    const taken = { slug: ['taken', 'another record has this value'] } as const;
    expectErrors(await admin.post(posts, { title: 'c', slug }), 409, { slug: [...taken.slug] });
    expectErrors(await admin.patch(`${posts}/${other}`, { slug }), 409, { slug: [...taken.slug] });
    expectErrors(await admin.post(posts, { title: 'c', id }), 409, {
      id: ['taken', 'a record with this id already exists in "posts"'],
    });
  });

  it('name the relation to nothing, and to what the caller may not read, alike', async () => {
    const missing = { parent: ['not_found', 'there is no record with this id'] } as const;
    const user = await app.user();
    const hidden = await app.make(posts, { title: 'of nobody' });
    for (const [caller, parent] of [[admin, randomUUID()], [user, randomUUID()], [user, hidden]] as const) {
      expectErrors(await caller.post(posts, { title: 'a', parent }), 400, { parent: [...missing.parent] });
    }
  });

  it('lead into the request of a batch', async () => {
    const batch = app.collections.replace(/collections$/, 'batch');
    const slug = randomUUID();
    const write = (body: object) => ({ method: 'POST', collection: 'posts', body });
    const wrong = await admin.post(batch, { requests: [write({ title: 'a' }), write({ slug: 5 })] });
    expectErrors(wrong, 400, {
      'requests.1.body.title': ['required', 'is required'],
      'requests.1.body.slug': ['invalid', 'must be a string'],
    });
    expect(wrong.body.message).toBe('requests.1: title: is required; slug: must be a string');
    const twice = await admin.post(batch, {
      requests: [write({ title: 'a', slug }), write({ title: 'b', slug })],
    });
    expectErrors(twice, 409, { 'requests.1.body.slug': ['taken', 'another record has this value'] });
    const shape = await admin.post(batch, { requests: [{ method: 'POST', collection: 'posts' }] });
    expectErrors(shape, 400, { 'requests.0.body': ['required', 'is required'] });
  });
});

describe('errors of any other body or query', () => {
  it('name members of members', async () => {
    const schema = { id: 'odd', fields: [{ name: 'a', kind: 'text' }, { kind: 'nothing', colour: 1 }] };
    const { body } = await admin.post(app.collections, { schema });
    expect(body.errors).toMatchObject([
      { path: 'schema.fields.1.name', code: 'required' },
      { path: 'schema.fields.1.kind', code: 'invalid' },
      { path: 'schema.fields.1.colour', code: 'unknown' },
    ]);
  });

  it('name the input of a sign-up form', async () => {
    const register = `${app.workspace.path}/auth/users/register`;
    const weak = await as().post(register, { email: 'ada@example.com', password: 'short' });
    expectErrors(weak, 400, { password: ['invalid', 'must have at least 8 characters'] });
    const email = `${randomUUID()}@example.com`;
    const password = 'a long password';
    expectOk(await as().post(register, { email, password }));
    const message = 'a user with this email already exists';
    expectErrors(await as().post(register, { email, password }), 409, { email: ['taken', message] });
  });

  it('name the id of an app, and the email of an admin, that is taken', async () => {
    const apps = `${app.workspace.path}/apps`;
    expectErrors(await app.workspace.admin.post(apps, { id: app.app.id, name: 'again' }), 409, {
      id: ['taken', `app "${app.app.id}" already exists`],
    });
    const admins = `${app.workspace.path}/admins`;
    const person = {
      email: `${randomUUID()}@example.com`,
      password: 'a long password',
      name: '',
      app_ids: [],
    };
    expectOk(await app.workspace.master.post(admins, person));
    expectErrors(await app.workspace.master.post(admins, person), 409, {
      email: ['taken', 'an admin with this email already exists'],
    });
  });

  it('name the query parameter', async () => {
    expectErrors(await admin.get(`${posts}?page=0`), 400, { page: ['invalid', 'must be at least 1'] });
  });
});

describe('errors of a hook', () => {
  let hooked: Scenario;
  let records: string;

  beforeAll(async () => {
    const source = `
      const refuse = ({ record }) => {
        if (record.fields.title === 'taken') throw new FieldError('title', 'is in use', 'in_use');
        if (record.fields.title === 'bad') throw new FieldError('title', 'is bad');
        if (record.fields.title === 'odd') throw new Error('not like this');
      };
      onRecordBeforeCreate('posts', refuse);
      onRecordBeforeUpdate('posts', refuse);
      onRecordBeforeDelete('posts', ({ record }) => {
        if (record.fields.title === 'kept') throw new FieldError('title', 'keeps this record');
      });
      routerAdd('POST', '/errors', async (e) => {
        try {
          await $app.records.create('posts', await e.request.json());
        } catch (error) {
          return [error.code, error.status, error.errors];
        }
      });`;
    const fields = [{ name: 'title', kind: 'text', required: true }];
    hooked = await scenario({ collections: { posts: fields }, hooks: { 'refuse.js': source } });
    records = hooked.records('posts');
  });

  const inUse = { path: 'title', code: 'in_use', message: 'is in use' };

  it('name the field of a FieldError, which a create, an update or a deletion was refused for', async () => {
    const created = await hooked.admin.post(records, { title: 'taken' });
    expect(created.status).toBe(400);
    expect(created.body).toEqual({ code: 'hook_veto', message: 'title: is in use', errors: [inUse] });
    const id = await hooked.make(records, { title: 'good' });
    const updated = await hooked.admin.patch(`${records}/${id}`, { title: 'bad' });
    expect(updated.body.errors).toEqual([{ path: 'title', code: 'invalid', message: 'is bad' }]);
    const kept = await hooked.make(records, { title: 'kept' });
    const removed = await hooked.admin.delete(`${records}/${kept}`);
    expect(removed.body).toMatchObject({ code: 'hook_veto', errors: [{ message: 'keeps this record' }] });
  });

  it('lead into the request of a batch', async () => {
    const write = (title: string) => ({ method: 'POST', collection: 'posts', body: { title } });
    const response = await hooked.admin.post(hooked.collections.replace(/collections$/, 'batch'), {
      requests: [write('good'), write('taken')],
    });
    expect(response.body).toEqual({
      code: 'hook_veto',
      message: 'requests.1: title: is in use',
      errors: [{ ...inUse, path: 'requests.1.body.title' }],
    });
  });

  it('are not those of any other error', async () => {
    const { body } = await hooked.admin.post(records, { title: 'odd' });
    expect(body).toEqual({ code: 'hook_veto', message: 'not like this' });
  });

  it('reach the hook that called $app', async () => {
    const ask = async (body: object) =>
      (await hooked.admin.post(`${hooked.app.path}/custom/errors`, body)).body;
    expect(await ask({ title: 'taken' })).toEqual(['hook_veto', 400, [inUse]]);
    const required = { path: 'title', code: 'required', message: 'is required' };
    expect(await ask({})).toEqual(['validation', 400, [required]]);
    expect(await ask({ title: 'odd' })).toEqual(['hook_veto', 400, []]);
  });
});

it('an error about no member has no errors', async () => {
  for (const response of [await admin.get(`${posts}/x`), await admin.get(`${posts}s`)]) {
    expect(Object.keys(response.body)).toEqual(['code', 'message']);
  }
});
