// API keys: how they are made, shown and deleted, and when they end.
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
  serverUrl,
} from '../../../harness/api.ts';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { openEvents } from '../../realtime/event-client.ts';
import { provisionerEndpoint } from '../../../harness/database.ts';

let workspace: OwnWorkspace;
let app: OwnApp;

beforeAll(async () => {
  workspace = await ownWorkspace();
  app = await workspace.app();
  const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
});

const keysOf = (path: string) => `${path}/keys`;

async function makeKey(
  admin: Caller,
  path: string,
  scopes: readonly string[] = ['records:read'],
  more: object = {},
): Promise<Caller & { id: string; secret: string }> {
  const body = { name: 'a key', scopes, ...more };
  const { id, secret } = expectOk(await admin.post(keysOf(path), body));
  return { ...as(secret), id, secret };
}

const statusOf = async (key: Caller) => (await key.get(`${app.path}/collections/notes/records`)).status;

describe('a key', () => {
  it('shows its secret once', async () => {
    const body = { name: 'CI', scopes: ['records:read', 'records:write@notes', 'records:read'] };
    const made = await app.admin.post(keysOf(app.path), body);
    expect(made.status).toBe(201);
    const { secret, ...key } = made.body;
    expect(secret).toMatch(/^bhk_[A-Za-z0-9_-]{43}$/);
    expect(key).toMatchObject({
      name: 'CI',
      role: 'api_key',
      workspace: workspace.id,
      app: app.id,
      scopes: ['records:read', 'records:write@notes'],
      maker: { role: 'app_admin' },
      expires_at: null,
      last_used_at: null,
    });
    expect(expectOk(await app.admin.get(`${keysOf(app.path)}/${key.id}`))).toEqual(key);
    const list = await app.admin.get(keysOf(app.path));
    expect(list.text).not.toContain(secret);
    expect(list.body.items).toContainEqual(key);
  });

  it('is stored as a hash', async () => {
    const key = await makeKey(app.admin, app.path);
    const pool = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
    const [row] = await pool.run((sql) => sql`select * from control.api_keys where id = ${key.id}`)
      .finally(() => pool.end());
    expect(row?.['secret_hash']).toEqual(createHash('sha256').update(key.secret).digest());
    expect(JSON.stringify(row)).not.toContain(key.secret);
  });

  it('says when it was used', async () => {
    const key = await makeKey(app.admin, app.path);
    expect(await statusOf(key)).toBe(200);
    const { last_used_at, created_at } = expectOk(await app.admin.get(`${keysOf(app.path)}/${key.id}`));
    expect(Date.parse(last_used_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
  });

  it('can say who it is', async () => {
    const key = await makeKey(app.admin, app.path);
    const me = expectOk(await key.get(`${workspace.path}/auth/me`));
    expect(me).toMatchObject({ id: key.id, role: 'api_key', scopes: ['records:read'] });
    expect(me).not.toHaveProperty('secret');
  });

  it('is named with its maker in the audit log', async () => {
    const admin = await workspace.login();
    const key = await makeKey(admin, workspace.path, ['apps:write']);
    expectOk(await key.patch(app.path, { name: 'Another name' }));
    const actor = `api_key:${key.id} of ${admin.email}`;
    const { items } = expectOk(
      await workspace.admin.get(`${workspace.path}/audit?actor=${encodeURIComponent(actor)}`),
    );
    expect(items.map(({ action }: { action: string }) => action)).toEqual(['app_update']);
    const made = expectOk(
      await workspace.master.get(`/api/system/audit?action=key_create&actor=${admin.email}`),
    );
    expect(made.items).toHaveLength(1);
    expect(made.items[0].details).toMatchObject({ id: key.id, scopes: ['apps:write'] });
    expect(JSON.stringify(made.items)).not.toContain(key.secret);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['records:read', 'everything'] }, 'scopes.1'],
    [{ scopes: ['constructor'] }, 'scopes.0'],
    [{ scopes: ['records:read@notes/more'] }, 'scopes.0'],
    [{ scopes: ['records:read@'] }, 'scopes.0'],
    [{ scopes: ['records:read@a@b'] }, 'scopes.0'],
    [{ scopes: ['files:read@notes'] }, 'scopes.0'],
    [{ scopes: ['users:read'] }, 'scopes.0'],
    [{ scopes: ['workspaces:write'] }, 'scopes.0'],
    [{ expires_at: 'soon' }, 'expires_at'],
    [{ expires_at: '2026-02-30T00:00:00Z' }, 'expires_at'],
    [{ expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    [{ secret: 'bhk_mine' }, 'secret'],
  ])('is not made of %j', async (wrong, path) => {
    const before = expectOk(await app.admin.get(keysOf(app.path))).total_items;
    const response = await app.admin.post(keysOf(app.path), {
      name: 'a',
      scopes: ['records:read'],
      ...wrong,
    });
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
    expect(expectOk(await app.admin.get(keysOf(app.path))).total_items).toBe(before);
  });

  it('is not made at a level above its maker', async () => {
    const body = { name: 'more', scopes: ['records:read'] };
    expect((await app.admin.post(keysOf(workspace.path), body)).status).toBe(403);
    expect((await app.admin.post('/api/keys', body)).status).toBe(403);
    expect((await workspace.admin.post('/api/keys', body)).status).toBe(403);
  });
});

describe('a stranger', () => {
  it('learns nothing of the keys of others', async () => {
    const other = await ownWorkspace();
    const key = await makeKey(workspace.admin, workspace.path);
    for (const { id } of [key, { id: 'none' }]) {
      expect((await other.admin.get(`${keysOf(workspace.path)}/${id}`)).status).toBe(403);
      expect((await other.admin.delete(`${keysOf(other.path)}/${id}`)).body.code).toBe('not_found');
      expect((await workspace.admin.delete(`${keysOf(app.path)}/${id}`)).body.code).toBe('not_found');
    }
    expect(await statusOf(key)).toBe(200);
  });

  it('is refused with what is no key, in one way', async () => {
    const { secret } = await makeKey(app.admin, app.path);
    const wrong = [
      `bhk_${randomBytes(32).toString('base64url')}`,
      'bhk_',
      `${secret}x`,
      secret.slice(0, -1),
      secret.toUpperCase(),
    ];
    const responses = await Promise.all(
      wrong.slice(0, 4).map((token) => as(token).get(`${app.path}/collections/notes/records`)),
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(401);
  });

  it('cannot send a key as a cookie, nor sign in, refresh or log out with it', async () => {
    const key = await makeKey(app.admin, app.path);
    const cookie = { Cookie: `svc_at=${key.secret}` };
    expect((await as().get(`${workspace.path}/auth/me`, cookie)).status).toBe(401);
    expect((await as().post('/_/auth/refresh', { refresh_token: key.secret })).status).toBe(401);
    expectOk(await key.post('/_/auth/logout'));
    expect(await statusOf(key)).toBe(200);
  });
});

describe('the end of a key', () => {
  it('is its deletion', async () => {
    const key = await makeKey(app.admin, app.path);
    expect(await statusOf(key)).toBe(200);
    expectOk(await app.admin.delete(`${keysOf(app.path)}/${key.id}`));
    expect(await statusOf(key)).toBe(401);
    expect((await app.admin.delete(`${keysOf(app.path)}/${key.id}`)).status).toBe(404);
  });

  it('is its time, which also ends its streams', async () => {
    const expires = new Date(Date.now() + 4_000).toISOString();
    const key = await makeKey(app.admin, app.path, ['records:read'], { expires_at: expires });
    const port = Number(new URL(serverUrl()).port);
    const client = await openEvents(port, {
      path: `${app.path}/collections/notes/events`,
      token: key.secret,
    });
    await vi.waitUntil(async () => await statusOf(key) === 401, { timeout: 15_000, interval: 200 });
    await client.closed;
    expect(client.text).toContain('event: unauthorized');
  });

  it('comes with the end or the lost rights of its maker', async () => {
    const [removed, demoted, kept] = [
      await workspace.login(),
      await workspace.login(),
      await workspace.login([app.id]),
    ];
    const keys = [
      await makeKey(removed, app.path),
      await makeKey(demoted, workspace.path),
      await makeKey(demoted, app.path),
      await makeKey(kept, app.path),
    ];
    expect(await Promise.all(keys.map(statusOf))).toEqual([200, 200, 200, 200]);
    const admins = `${workspace.path}/admins`;
    expectOk(await workspace.master.delete(`${admins}/${removed.id}`));
    expectOk(await workspace.master.patch(`${admins}/${demoted.id}`, { app_ids: [app.id] }));
    expectOk(await workspace.master.patch(`${admins}/${kept.id}`, { password: 'another password of it' }));
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401, 200, 200]);
    expectOk(await workspace.master.patch(`${admins}/${demoted.id}`, { app_ids: [] }));
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401, 200, 200]);
  });

  it('comes with its app, and a later app of the same id does not revive it', async () => {
    const passing = await workspace.app();
    const key = await makeKey(passing.admin, passing.path, ['definition:read']);
    expectOk(await key.get(`${passing.path}/collections`));
    expectOk(await workspace.admin.delete(passing.path));
    expectOk(await workspace.admin.post(`${workspace.path}/apps`, { id: passing.id, name: 'Again' }));
    expect((await key.get(`${passing.path}/collections`)).status).toBe(401);
  });
});
