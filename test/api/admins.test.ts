// Workspace and app admins, managed by the master.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../harness/api.ts';

let workspace: OwnWorkspace;
let path: string;
beforeAll(async () => {
  workspace = await ownWorkspace();
  path = `${workspace.path}/admins`;
});

const password = 'a password of the test';
const newEmail = () => `${randomUUID()}@example.com`;

function create(changes: object = {}) {
  return workspace.master.post(path, { email: newEmail(), password, name: 'Ann', app_ids: [], ...changes });
}

describe('creating an admin', () => {
  it('without apps makes a workspace admin', async () => {
    const email = newEmail();
    const response = await create({ email: email.toUpperCase() });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      email,
      name: 'Ann',
      role: 'workspace_admin',
      app_ids: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: response.body.created_at,
    });
  });

  it('with apps makes an app admin of them, each once', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const response = await create({ app_ids: [b.id, a.id, b.id] });
    expect(response).toMatchObject({ status: 201, body: { role: 'app_admin', app_ids: [b.id, a.id] } });
  });

  it('needs no name, but app_ids: a workspace admin is never made by leaving something out', async () => {
    const response = await workspace.master.post(path, { email: newEmail(), password, app_ids: [] });
    expect(response).toMatchObject({ status: 201, body: { name: '', role: 'workspace_admin' } });
    const without = await workspace.master.post(path, { email: newEmail(), password });
    expect([without.status, without.body.message]).toEqual([400, 'app_ids: is required']);
  });

  it('takes an id, once', async () => {
    const id = randomUUID();
    expect((await create({ id })).body.id).toBe(id);
    const again = await create({ id, name: 'Eve' });
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
  });

  it('refuses an email that is taken, whatever its case, and leaves its owner as it was', async () => {
    const email = newEmail();
    expectOk(await create({ email }));
    const again = await create({ email: email.toUpperCase(), password: 'another password' });
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    expect((await as().post(`${workspace.path}/auth/admin/login`, { email, password })).status).toBe(200);
  });

  it('gives one of 20 at once 201', async () => {
    const email = newEmail();
    const responses = await Promise.all(Array.from({ length: 20 }, () => create({ email })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  it.each([
    ['a missing email', { email: undefined }, /^email: is required$/],
    ['an email without an @', { email: 'nobody' }, /^email: must be an email address$/],
    ['an email with a space', { email: 'a b@example.com' }, /^email: /],
    ['an email with a line break', { email: 'a@example.com\nBcc: b@example.com' }, /^email: /],
    ['an email that is too long', { email: `${'a'.repeat(64)}@${'b'.repeat(200)}.com` }, /^email: /],
    ['an email that is an object', { email: {} }, /^email: must be a string$/],
    ['a missing password', { password: undefined }, /^password: is required$/],
    ['a short password', { password: 'seven77' }, /^password: must have at least 8 characters$/],
    ['a long password', { password: 'x'.repeat(257) }, /^password: must have at most 256 characters$/],
    ['a password with a NUL', { password: 'long enough\0' }, /NUL/],
    ['a name that is too long', { name: 'x'.repeat(201) }, /^name: /],
    ['an app that does not exist', { app_ids: ['none-such'] }, /^app_ids: app "none-such" does not exist$/],
    ['apps that are no list', { app_ids: 'shop' }, /^app_ids: must be an array$/],
    ['an id that is no UUID', { id: '1' }, /^id: must be a UUID$/],
    ['a role', { role: 'workspace_admin' }, /^role: unknown field$/],
    ['a hash', { password_hash: 'x' }, /^password_hash: unknown field$/],
  ])('refuses %s', async (_what, changes, message) => {
    const response = await create(changes);
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.message).toMatch(message);
  });

  it('takes a password of 8 characters, of 256, and of any script', async () => {
    for (const given of ['eight888', 'x'.repeat(256), '🔑🔑🔑🔑🔑🔑🔑🔑', 'пароль-из-слов']) {
      const email = newEmail();
      expectOk(await create({ email, password: given }));
      expect((await as().post(`${workspace.path}/auth/admin/login`, { email, password: given })).status).toBe(
        200,
      );
    }
  });

  it('takes a password typed on a machine that composes letters otherwise', async () => {
    const email = newEmail();
    expectOk(await create({ email, password: 'Zu\u0308rich-2026' }));
    const login = { email, password: 'Z\u00fcrich-2026' };
    expect((await as().post(`${workspace.path}/auth/admin/login`, login)).status).toBe(200);
  });
});

describe('the list of admins', () => {
  it('has them in the order of their creation, in pages', async () => {
    const own = await ownWorkspace();
    const [a, b] = [await own.login(), await own.login()];
    const response = expectOk(await own.master.get(`${own.path}/admins?per_page=2&page=2`));
    expect(response).toMatchObject({ page: 2, per_page: 2, total_items: 3, total_pages: 2 });
    expect(response.items.map(({ id }: { id: string }) => id)).toEqual([b.id]);
    const all = expectOk(await own.master.get(`${own.path}/admins?skip_total=true`));
    expect(all.total_items).toBe(-1);
    expect(all.items.map(({ id }: { id: string }) => id).slice(1)).toEqual([a.id, b.id]);
    expect(JSON.stringify(all)).not.toContain('argon2');
  });
});

describe('changing an admin', () => {
  it('changes what is given and leaves the rest', async () => {
    const made = expectOk(await create());
    const response = await workspace.master.patch(`${path}/${made.id}`, { name: 'Anna' });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ...made, name: 'Anna', updated_at: response.body.updated_at });
  });

  it('lets the new email in and the old one no more', async () => {
    const email = newEmail();
    const made = expectOk(await create());
    expectOk(await workspace.master.patch(`${path}/${made.id}`, { email: email.toUpperCase() }));
    const login = (name: string) =>
      as().post(`${workspace.path}/auth/admin/login`, { email: name, password });
    expect((await login(email)).status).toBe(200);
    expect((await login(made.email)).status).toBe(401);
  });

  it('refuses an email that another has, and changes nothing', async () => {
    const [a, b] = [expectOk(await create()), expectOk(await create())];
    const response = await workspace.master.patch(`${path}/${b.id}`, { email: a.email, name: 'Eve' });
    expect([response.status, response.body.code]).toEqual([409, 'conflict']);
    const { items } = expectOk(await workspace.master.get(`${path}?per_page=200`));
    expect(items.find(({ id }: { id: string }) => id === b.id)).toEqual(b);
  });

  it.each([
    [{ password: 'short' }, 'password'],
    [{ app_ids: ['none-such'] }, 'app_ids'],
    [{ id: randomUUID() }, 'id'],
    [{ role: 'master_admin' }, 'role'],
    [{ email: null }, 'email'],
  ])('refuses %j', async (body, field) => {
    const made = expectOk(await create());
    const response = await workspace.master.patch(`${path}/${made.id}`, body);
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.message).toMatch(new RegExp(`^${field}: `));
  });
});

describe('an admin that does not exist', () => {
  it.each([randomUUID(), '1', "'; drop table admins --", '%00'])('is answered 404: %s', async (id) => {
    for (
      const response of [
        await workspace.master.patch(`${path}/${encodeURIComponent(id)}`, { name: 'x' }),
        await workspace.master.delete(`${path}/${encodeURIComponent(id)}`),
      ]
    ) expect([response.status, response.body.code]).toEqual([404, 'not_found']);
  });

  it('is one of another workspace', async () => {
    const other = await ownWorkspace();
    const { id } = await other.login();
    expect((await workspace.master.patch(`${path}/${id}`, { name: 'x' })).status).toBe(404);
    expect((await workspace.master.delete(`${path}/${id}`)).status).toBe(404);
    expect((await other.master.delete(`${other.path}/admins/${id}`)).status).toBe(200);
  });
});

describe('who may manage admins', () => {
  it('is the master alone', async () => {
    const app = await workspace.app();
    const other = await ownWorkspace();
    const { id } = await workspace.login();
    for (
      const [caller, status] of [[as(), 401], [workspace.admin, 403], [app.admin, 403], [
        other.admin,
        403,
      ]] as const
    ) {
      expect((await caller.get(path)).status).toBe(status);
      expect((await caller.post(path, { email: newEmail(), password })).status).toBe(status);
      expect((await caller.patch(`${path}/${id}`, { name: 'x' })).status).toBe(status);
      expect((await caller.delete(`${path}/${id}`)).status).toBe(status);
    }
  });

  it('is told which workspace is missing', async () => {
    const response = await workspace.master.get('/api/workspaces/none-such/admins');
    expect([response.status, response.body.code]).toEqual([404, 'workspace_not_found']);
  });
});

describe('the audit of admins', () => {
  it('has every act at the scope of the system, without a secret', async () => {
    const email = newEmail();
    const { id } = expectOk(await create({ email }));
    expectOk(await workspace.master.patch(`${path}/${id}`, { password: 'another password', name: 'Anna' }));
    expectOk(await workspace.master.delete(`${path}/${id}`));
    const { items } = expectOk(await workspace.master.get('/api/system/audit?action=admin_&per_page=200'));
    const own = items.filter(({ target }: { target: string }) => target === email);
    expect(own).toMatchObject([
      { action: 'admin_delete', actor: 'admin', details: { id, workspace: workspace.id } },
      { action: 'admin_update', actor: 'admin', details: { id, changed: ['name', 'password'] } },
      { action: 'admin_create', actor: 'admin', details: { id, role: 'workspace_admin', app_ids: [] } },
    ]);
    expect(JSON.stringify(own)).not.toMatch(/another password|a password of the test|argon2/);
  });
});
