// Clones of workspaces, through HTTP.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../harness/api.ts';

const list = '/api/workspaces';
const password = 'a password of the test';
const newId = () => `c${randomUUID().slice(0, 13)}`;

let root: Caller;
let source: OwnWorkspace;
let app: OwnApp;
let user: { email: string; access_token: string; refresh_token: string; id: string };
let noteId: string;
let fileId: string;
let key: string;

const hook = `
onRecordBeforeCreate('notes', (e) => { e.record.fields.title = e.record.fields.title + $app.env.SUFFIX; });
routerAdd('GET', '/hello', () => ({ hello: $app.env.SUFFIX }));
`;

/** One of everything that an app may have. */
beforeAll(async () => {
  source = await ownWorkspace();
  root = source.master;
  app = await source.app('shop');
  const { admin, path } = app;
  const notes = {
    id: 'notes',
    kind: 'base',
    fields: [
      { name: 'title', kind: 'text', index: true },
      { name: 'owner', kind: 'relation', target: 'users' },
      { name: 'proof', kind: 'file' },
      { name: 'number', kind: 'number', autonumber: true },
      { name: 'related', kind: 'relation', target: 'notes', many: true },
    ],
  };
  expectOk(await admin.post(`${path}/collections`, { schema: notes }));
  expectOk(
    await admin.put(`${path}/collections/notes/access_rules/list`, {
      template: 'filter',
      filter: 'owner = @request.auth.id',
    }),
  );
  const view = { id: 'titles', kind: 'view', query: 'select id, title from notes' };
  expectOk(await admin.post(`${path}/collections`, { schema: view }));
  expectOk(await admin.put(`${path}/hooks/env/SUFFIX`, { value: '!' }));
  expectOk(await admin.put(`${path}/hooks/main.ts`, { source: hook }));
  expectOk(await root.put(`${path}/policies/quota.records`, { kind: 'range', min: 0, max: 77 }));
  expectOk(
    await source.admin.put(`${source.path}/auth/oauth/providers/github`, {
      client_id: 'x',
      client_secret: 'y',
    }),
  );
  const email = `${randomUUID()}@example.com`;
  expectOk(await as().post(`${source.path}/auth/users/register`, { email, password }));
  const session = expectOk(await as().post(`${source.path}/auth/users/login`, { email, password }));
  user = { email, ...session, id: session.user.id };
  const upload = await admin.post(`${path}/files`, 'the bytes', {
    'Content-Type': 'text/plain',
    'X-Filename': 'a.txt',
  });
  fileId = expectOk(upload).id;
  const note = { title: 'first', owner: user.id, proof: fileId };
  noteId = expectOk(await admin.post(`${path}/collections/notes/records`, note)).id;
  key = expectOk(await admin.post(`${path}/keys`, { name: 'ci', scopes: ['records:read'] })).secret;
}, 60_000);

async function clone(body: Record<string, unknown> = {}) {
  const id = newId();
  const made = expectOk(await root.post(list, { id, name: 'A clone', from: source.id, ...body }));
  return { made, id, path: `${list}/${id}`, app: `${list}/${id}/apps/shop` };
}

const titles = async (path: string) =>
  expectOk(await root.get(`${path}/collections/notes/records?sort=number`)).items
    .map(({ fields }: { fields: { title: string; number: number } }) => `${fields.number} ${fields.title}`);

describe('a clone', () => {
  it('has what its source has, and each goes on by itself', async () => {
    const { made, id, path, app: cloned } = await clone({ ttl_sec: 3_600 });
    expect(made).toMatchObject({ id, name: 'A clone', from: source.id, expires_at: expect.any(String) });
    expect(expectOk(await root.get(path))).toEqual(made);
    expect(await titles(cloned)).toEqual(['1 first!']);
    const parts = ['collections', 'collections/notes/access_rules', 'collections/titles/records'];
    for (const what of parts) {
      expect(expectOk(await root.get(`${cloned}/${what}`)))
        .toEqual(expectOk(await root.get(`${app.path}/${what}`)));
    }
    expect(expectOk(await root.get(`${cloned}/policies/quota.records`)).spec.max).toBe(77);
    expect((await root.get(`${cloned}/files/${fileId}`)).text).toBe('the bytes');
    expect(expectOk(await root.get(`${path}/auth/oauth/providers/github`)).has_secret).toBe(true);
    expectOk(await root.post(`${cloned}/collections/notes/records`, { title: 'second', related: [noteId] }));
    expect(await titles(cloned)).toEqual(['1 first!', '2 second!']);
    expect(await titles(app.path)).toEqual(['1 first!']);
    expect(expectOk(await root.get(`${cloned}/custom/hello`))).toEqual({ hello: '!' });
    expectOk(await root.delete(`${cloned}/files/${fileId}`));
    expect((await root.get(`${app.path}/files/${fileId}`)).text).toBe('the bytes');
    // The next app, and a change of a collection by the owner of the schema.
    expectOk(await root.post(`${path}/apps`, { id: 'next', name: 'Next' }));
    const schema = {
      id: 'later',
      kind: 'base',
      fields: [{ name: 'note', kind: 'relation', target: 'notes' }],
    };
    expectOk(await root.post(`${cloned}/collections`, { schema }));
    expectOk(await root.post(`${cloned}/collections/later/records`, { note: noteId }));
  });

  it('admits the users of its source by their passwords, and no token, key or admin of it', async () => {
    const { path, app: cloned } = await clone();
    const { email } = user;
    const session = expectOk(await as().post(`${path}/auth/users/login`, { email, password }));
    const records = `${cloned}/collections/notes/records`;
    expect(expectOk(await as(session.access_token).get(records)).items.length).toBe(1);
    for (const token of [user.access_token, source.admin.token, app.admin.token, key]) {
      expect([401, 403]).toContain((await as(token).get(records)).status);
    }
    expect((await as(session.access_token).get(`${app.path}/collections/notes/records`)).status).toBe(403);
    const { refresh_token } = user;
    expect((await as().post(`${path}/auth/users/refresh`, { refresh_token })).status).toBe(401);
    expect(expectOk(await root.get(`${path}/admins`)).items).toEqual([]);
    expect(expectOk(await root.get(`${cloned}/keys`)).items).toEqual([]);
    expect(expectOk(await root.get(`${path}/audit`)).items.map(({ action }: { action: string }) => action))
      .not.toContain('app_create');
    // It was not used up.
    expectOk(await as().post(`${source.path}/auth/users/refresh`, { refresh_token }));
  });

  it('is made while its source is written to, and misses nothing that was there before', async () => {
    const busy = await ownWorkspace();
    const shop = await busy.app('shop');
    const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
    expectOk(await shop.admin.post(`${shop.path}/collections`, { schema }));
    const create = (title: string) => shop.admin.post(`${shop.path}/collections/notes/records`, { title });
    for (let at = 0; at < 5; at++) expectOk(await create('before'));
    let isDone = false;
    const statuses: number[] = [];
    const writing = Promise.all(Array.from({ length: 4 }, async () => {
      while (!isDone) statuses.push((await create('during')).status);
    }));
    const { app: cloned } = await clone({ from: busy.id }).finally(() => isDone = true);
    await writing;
    expect(statuses.every((status) => status === 201)).toBe(true);
    const { items } = expectOk(
      await root.get(`${cloned}/collections/notes/records?per_page=200&filter=title='before'`),
    );
    expect(items.length).toBe(5);
  }, 60_000);

  it('is made several times at once, and of a clone', async () => {
    const [one, two] = await Promise.all([clone(), clone()]);
    const third = await clone({ from: one.id });
    for (const { app: cloned } of [one, two, third]) expect(await titles(cloned)).toEqual(['1 first!']);
  });

  it.each([
    [{ from: 'nowhere' }, 400, 'from: workspace "nowhere" does not exist'],
    [{ from: 'No Id' }, 400, expect.stringContaining('from: must be 1 to 40 characters')],
  ])('is refused with %j', async (body, status, message) => {
    expect(await root.post(list, { name: 'x', ...body })).toMatchObject({ status, body: { message } });
  });

  it('is refused for an id that is taken, and for anybody but the master', async () => {
    const { id } = await clone();
    const body = { id, name: 'x', from: source.id };
    expect((await root.post(list, body)).status).toBe(409);
    expect((await source.admin.post(list, { ...body, id: newId() })).status).toBe(403);
  });
});

describe('a reset', () => {
  it('takes a clone back to what it was made from, also when the source has changed or is gone', async () => {
    const { made, path, app: cloned } = await clone();
    const admin = { email: `${randomUUID()}@example.com`, password, name: 'Ada', app_ids: [] };
    expectOk(await root.post(`${path}/admins`, admin));
    const { secret } = expectOk(await root.post(`${path}/keys`, { name: 'ci', scopes: ['records:read'] }));
    const login = () => as().post(`${path}/auth/admin/login`, { email: admin.email, password });
    const earlier = as(expectOk(await login()).access_token);
    const spoil = async () => {
      expectOk(await root.post(`${cloned}/collections/notes/records`, { title: 'second' }));
      expectOk(await root.delete(`${cloned}/collections/notes/records/${noteId}`));
      expectOk(
        await root.put(`${cloned}/hooks/main.ts`, { source: `routerAdd('GET', '/hello', () => 'other');` }),
      );
      expectOk(await root.put(`${cloned}/policies/quota.records`, { kind: 'range', min: 0, max: 3 }));
      expectOk(await root.delete(`${cloned}/files/${fileId}`));
      expectOk(await root.post(`${path}/apps`, { id: 'other', name: 'Other' }));
    };
    for (let round = 0; round < 2; round++) {
      await spoil();
      const start = performance.now();
      expect(expectOk(await root.post(`${path}/reset`))).toEqual({ ...made, updated_at: expect.any(String) });
      console.log(`reset after ${(performance.now() - start).toFixed(0)} ms`);
      expect(await titles(cloned)).toEqual(['1 first!']);
      expect((await root.get(`${cloned}/files/${fileId}`)).text).toBe('the bytes');
      expect(expectOk(await root.get(`${cloned}/policies/quota.records`)).spec.max).toBe(77);
      expect(expectOk(await root.get(`${cloned}/custom/hello`))).toEqual({ hello: '!' });
      expect(expectOk(await root.get(`${path}/apps`)).total_items).toBe(1);
    }
    expect((await earlier.get(`${cloned}/collections`)).status).toBe(401);
    expectOk(await as(expectOk(await login()).access_token).get(`${cloned}/collections`));
    expect((await as(secret).get(`${cloned}/collections/notes/records`)).status).toBe(401);
    expect(expectOk(await root.get(`${path}/keys`)).items).toEqual([]);
    const { items } = expectOk(await root.get(`/api/system/audit?action=workspace_reset`));
    expect(items.filter(({ target }: { target: string }) => target === made.id).length).toBe(2);
  }, 60_000);

  it('is for clones only, and for the master', async () => {
    expect(await root.post(`${source.path}/reset`)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect((await source.admin.post(`${source.path}/reset`)).status).toBe(403);
    expect((await root.post(`${list}/nowhere/reset`)).status).toBe(404);
  });
});
