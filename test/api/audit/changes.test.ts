// The entries of changes: the new value, the old value, the caller and its request, but no secret.
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { ownUser } from '../../harness/users.ts';

let workspace: OwnWorkspace;
let app: OwnApp;
beforeAll(async () => {
  workspace = await ownWorkspace();
  app = await workspace.app('shop');
});

interface Entry {
  target: string;
  details: Record<string, unknown>;
}

async function newest(path: string, action: string, caller = workspace.master): Promise<Entry> {
  return expectOk(await caller.get(`${path}/audit?action=${action}&per_page=1`)).items[0];
}

/** The same of the system, about this target: other tests change workspaces and admins at the same time. */
async function newestOf(target: string, action: string): Promise<Entry> {
  const { items } = expectOk(await workspace.master.get(`/api/system/audit?action=${action}&per_page=200`));
  return items.find((entry: Entry) => entry.target === target);
}

it('audit.integrity: a changed name has the one before', async () => {
  expectOk(await workspace.master.patch(workspace.path, { name: 'Second' }));
  expectOk(await workspace.master.patch(workspace.path, { name: 'Third' }));
  expect((await newestOf(workspace.id, 'workspace_update')).details).toMatchObject({
    name: 'Third',
    from: { name: 'Second' },
  });
  expectOk(await workspace.admin.patch(app.path, { name: 'Shop' }));
  expect((await newest(workspace.path, 'app_update')).details).toMatchObject({
    name: 'Shop',
    from: { name: 'An app' },
  });
});

it('audit.integrity: a changed admin has the rights before, and no password', async () => {
  const { id, email } = await workspace.login();
  const patch = { app_ids: ['shop'], password: 'quite another password' };
  expectOk(await workspace.master.patch(`${workspace.path}/admins/${id}`, patch));
  const { details } = await newestOf(email, 'admin_update');
  expect(details).toMatchObject({
    changed: ['app_ids', 'password'],
    role: 'app_admin',
    app_ids: ['shop'],
    from: { role: 'workspace_admin', app_ids: [] },
  });
  expect(JSON.stringify(details)).not.toMatch(/quite another|argon2/);
});

it('audit.integrity: a changed rule, collection and hook file have what stood there before', async () => {
  const fields = [{ name: 'title', kind: 'text' }];
  expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id: 'notes', fields } }));
  const rule = `${app.path}/collections/notes/access_rules/list`;
  expectOk(await app.admin.put(rule, { template: 'filter', filter: 'title = "a"' }));
  expect((await newest(app.path, 'rule_set')).details).toMatchObject({ filter: 'title = "a"', from: null });
  expectOk(await app.admin.put(rule, { template: 'filter', filter: 'title = "b"' }));
  expect((await newest(app.path, 'rule_set')).details).toMatchObject({
    filter: 'title = "b"',
    from: { template: 'filter', filter: 'title = "a"' },
  });
  expectOk(await app.admin.delete(rule));
  expect((await newest(app.path, 'rule_reset')).details).toMatchObject({ from: { filter: 'title = "b"' } });
  const longer = [{ name: 'title', kind: 'text', max: 9 }];
  expectOk(await app.admin.patch(`${app.path}/collections/notes`, { schema: { fields: longer } }));
  expect((await newest(app.path, 'collection_update')).details).toMatchObject({
    changed: ['title'],
    from: [{ name: 'title' }],
    to: [{ name: 'title', max: 9 }],
  });
  expectOk(await app.admin.delete(`${app.path}/collections/notes`));
  expect((await newest(app.path, 'collection_delete')).details).toMatchObject({
    from: { kind: 'base', fields: ['title'] },
  });
  for (const source of ['// one', '// a second']) {
    expectOk(await app.admin.put(`${app.path}/hooks/a.js`, { source }));
  }
  const put = await newest(app.path, 'hook_put');
  expect(put.details).toMatchObject({ size: 11, from: { size: 6 } });
  expect(put.details['sha256']).not.toBe(Object(put.details['from']).sha256);
});

it('audit.integrity: a changed provider has its settings before, and no secret', async () => {
  const config = {
    auth_url: 'https://a.example/a',
    token_url: 'https://a.example/t',
    userinfo_url: 'https://a.example/u',
  };
  const path = `${workspace.path}/auth/oauth/providers/acme`;
  const first = await workspace.admin.put(path, {
    client_id: 'one',
    client_secret: 'first-secret-text',
    config,
  });
  expectOk(first);
  expectOk(await workspace.admin.put(path, { client_id: 'two', client_secret: 'later-secret-text', config }));
  const { details } = await newest(workspace.path, 'provider_set');
  expect(details).toMatchObject({ client_id: 'two', secret_changed: true, from: { client_id: 'one' } });
  expect(JSON.stringify(details)).not.toMatch(/secret-text|sealed/);
});

it('audit.integrity: an entry says from where, also of a login that failed, and cannot be made to lie', async () => {
  const email = 'nobody@example.com';
  const agent = `Mozilla \u009b31m${'x'.repeat(900)}`;
  const response = await as().post(
    `${workspace.path}/auth/users/login`,
    { email, password: 'a wrong password here' },
    { 'User-Agent': agent, 'X-Request-Id': 'seen-1' },
  );
  expect(response.status).toBe(401);
  const { details } = await newest(workspace.path, 'login_failed', workspace.admin);
  expect(details).toMatchObject({ ip: '127.0.0.1', request_id: 'seen-1' });
  expect(details['user_agent']).toMatch(/^Mozilla \\u009b31mx+$/);
  expect(String(details['user_agent']).length).toBeLessThan(520);
});

it('audit.integrity: a variable of hooks that is set again or deleted says when it was set, and no value', async () => {
  const path = `${app.path}/hooks/env/API_KEY`;
  const first = expectOk(await app.admin.put(path, { value: 'first-secret-text' }));
  expect((await newest(app.path, 'hook_env_set')).details).toMatchObject({ from: null });
  const second = expectOk(await app.admin.put(path, { value: 'later-secret-text' }));
  expect((await newest(app.path, 'hook_env_set')).details).toMatchObject({
    from: { updated_at: first.updated_at },
  });
  expectOk(await app.admin.delete(path));
  const { details } = await newest(app.path, 'hook_env_delete');
  expect(details).toMatchObject({ from: { updated_at: second.updated_at } });
  const all = await workspace.admin.get(`${app.path}/audit?action=hook_env&per_page=50`);
  expect(JSON.stringify(expectOk(all))).not.toMatch(/secret-text/);
});

it('audit.integrity: a deleted admin and a deleted user have what they were', async () => {
  const { id, email } = await workspace.login(['shop']);
  expectOk(await workspace.master.delete(`${workspace.path}/admins/${id}`));
  const gone = await newestOf(email, 'admin_delete');
  expect(gone.details['from']).toEqual({ name: expect.any(String), role: 'app_admin', app_ids: ['shop'] });
  const user = await ownUser(workspace);
  expectOk(await workspace.admin.delete(`${workspace.path}/users/${user.id}`));
  expect((await newest(workspace.path, 'user_delete')).details).toMatchObject({
    id: user.id,
    from: { verified: false },
  });
});
