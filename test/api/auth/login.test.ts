// Logging in: what a response holds, what is audited, what is refused.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type ApiResponse,
  as,
  expectOk,
  master,
  type OwnWorkspace,
  ownWorkspace,
} from '../../harness/api.ts';
import { type Claims, claimsOf, cookiesOf, headerOf } from '../../harness/tokens.ts';

const masterLogin = '/_/auth/admin/login';
let workspace: OwnWorkspace;
let login: string;

beforeAll(async () => {
  workspace = await ownWorkspace();
  login = `${workspace.path}/auth/admin/login`;
});

function masterCredentials() {
  return { username: 'admin', password: inject('server').masterPassword };
}

function expectSession(response: ApiResponse): Claims {
  expect(response.status).toBe(200);
  expect(Object.keys(response.body).sort()).toEqual(['access_token', 'admin', 'refresh_token']);
  expect(response.body.refresh_token).toMatch(/^rfsh_[\w-]{40,}$/);
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  return claimsOf(response.body.access_token);
}

describe('master login', () => {
  it('answers tokens whose claims name neither workspace nor app', async () => {
    const response = await as().post(masterLogin, masterCredentials());
    const claims = expectSession(response);
    expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'role', 'sub']);
    expect(claims).toMatchObject({ iss: 'bulkhead', role: 'master_admin', sub: response.body.admin.id });
    expect(claims.exp - claims.iat).toBe(900);
    expect(response.body.admin).toMatchObject({ username: 'admin', role: 'master_admin', app_ids: [] });
    expect(JSON.stringify(response.body)).not.toMatch(/argon2|password/);
  });

  it('signs with a key of the key set, which both paths serve alike', async () => {
    const header = headerOf((await as().post(masterLogin, masterCredentials())).body.access_token);
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const [a, b] = await Promise.all(
      ['/.well-known/jwks.json', '/_/auth/jwks.json'].map((path) => as().get(path)),
    );
    expect(a?.body).toEqual(b?.body);
    expect(a?.body.keys).toEqual([
      { kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB', kid: header.kid, n: expect.any(String) },
    ]);
    for (const response of [a, b]) {
      expect(response?.headers.get('Content-Type')).toBe('application/jwk-set+json');
      expect(response?.headers.get('Cache-Control')).toBe('public, max-age=3600');
    }
    // 2048 bits.
    expect(Buffer.from(a?.body.keys[0].n, 'base64url')).toHaveLength(256);
  });

  it('sets both cookies with exactly the attributes of the contract', async () => {
    const response = await as().post(masterLogin, masterCredentials());
    expect(cookiesOf(response)).toEqual([
      `svc_at=${response.body.access_token}; Path=/; Max-Age=900; HttpOnly; SameSite=Strict; Priority=High`,
      `svc_rt=${response.body.refresh_token}; Path=/_/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Priority=High`,
    ]);
  });

  it.each([
    ['an unknown name', { username: `nobody-${randomUUID()}`, password: 'a wrong password' }],
    ['no password at all', { username: `nobody-${randomUUID()}`, password: '' }],
    ['a body without a name', { password: 'x' }],
    ['a password that is an object', { username: 'admin', password: { $ne: '' } }],
    ['an unknown member', { username: 'admin', password: 'x', admin: true }],
  ])('refuses %s without a cookie', async (what, body) => {
    const response = await as().post(masterLogin, body);
    const expected = what === 'an unknown name' ? [401, 'bad_credentials'] : [400, 'validation'];
    expect([response.status, response.body.code]).toEqual(expected);
    expect(cookiesOf(response)).toEqual([]);
  });

  it('ignores a token that came with it, a bad one too', async () => {
    const response = await as('nonsense').post(masterLogin, masterCredentials());
    expect(response.status).toBe(200);
  });
});

describe('admin login', () => {
  it('answers tokens of a workspace admin that name the workspace', async () => {
    const { email, password, id } = await workspace.login();
    const response = await as().post(login, { email, password });
    const claims = expectSession(response);
    expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'role', 'sub', 'workspace']);
    expect(claims).toMatchObject({ role: 'workspace_admin', workspace: workspace.id, sub: id });
    expect(response.body.admin).toMatchObject({ id, email, role: 'workspace_admin', app_ids: [] });
    expect(cookiesOf(response)).toHaveLength(2);
  });

  it('answers tokens of an app admin that name one app as text and several as a list', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    expect(claimsOf(a.admin.token)).toMatchObject({ role: 'app_admin', workspace: workspace.id, app: a.id });
    const both = await workspace.login([a.id, b.id]);
    expect(claimsOf(both.token)).toMatchObject({ role: 'app_admin', app: [a.id, b.id] });
  });

  it('gives a login that names an app tokens for that app only', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const { email, password } = await workspace.login();
    const response = expectOk(await as().post(login, { email, password, app: a.id }));
    expect(claimsOf(response.access_token)).toMatchObject({ role: 'app_admin', app: a.id });
    const narrowed = as(response.access_token);
    expect((await narrowed.get(a.path)).status).toBe(200);
    expect((await narrowed.get(b.path)).status).toBe(403);
    const next = expectOk(
      await as().post(`${workspace.path}/auth/refresh`, { refresh_token: response.refresh_token }),
    );
    expect(claimsOf(next.access_token)).toMatchObject({ role: 'app_admin', app: a.id });
  });

  it('refuses a login that names an app out of reach', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const { email, password } = await workspace.login([a.id]);
    for (const app of [b.id, 'none-such']) {
      const response = await as().post(login, { email, password, app });
      expect([response.status, response.body.code]).toEqual([403, 'forbidden']);
    }
    const all = await workspace.login();
    const credentials = { email: all.email, password: all.password };
    expect((await as().post(login, { ...credentials, app: 'none-such' })).status).toBe(403);
    expect((await as().post(login, { ...credentials, app: a.id })).status).toBe(200);
  });

  it('finds an email whatever its case and the spaces around it', async () => {
    const { email, password } = await workspace.login();
    expect((await as().post(login, { email: `  ${email.toUpperCase()} `, password })).status).toBe(200);
  });

  it('answers an unknown email and a wrong password alike', async () => {
    const { email } = await workspace.login();
    const [known, unknown] = await Promise.all(
      [email, `${randomUUID()}@example.com`].map((name) =>
        as().post(login, { email: name, password: 'a wrong password' })
      ),
    );
    expect(known?.status).toBe(401);
    expect(known?.body).toEqual(unknown?.body);
    expect(known?.body.code).toBe('bad_credentials');
  });

  it('answers 404 for a workspace that does not exist', async () => {
    const response = await as().post('/api/workspaces/none-such/auth/admin/login', {
      email: 'a@b.c',
      password: 'x',
    });
    expect([response.status, response.body.code]).toEqual([404, 'workspace_not_found']);
  });

  it('does not know the admins of another workspace', async () => {
    const other = await ownWorkspace();
    const { email, password } = await workspace.login();
    expect((await as().post(`${other.path}/auth/admin/login`, { email, password })).status).toBe(401);
  });
});

describe('me', () => {
  it('describes the admin whose token it is', async () => {
    const admin = await workspace.login();
    const response = await admin.get(`${workspace.path}/auth/me`);
    expect(response).toMatchObject({
      status: 200,
      body: { id: admin.id, email: admin.email, role: 'workspace_admin' },
    });
    expect(Object.keys(response.body).sort()).toEqual(
      ['app_ids', 'created_at', 'email', 'id', 'name', 'role', 'updated_at'],
    );
  });

  it('describes the master in any workspace that exists', async () => {
    const root = await master();
    expect(await root.get(`${workspace.path}/auth/me`)).toMatchObject({
      status: 200,
      body: { username: 'admin' },
    });
    expect((await root.get('/api/workspaces/none-such/auth/me')).body.code).toBe('workspace_not_found');
  });

  it('refuses the admin of another workspace and who has no token', async () => {
    const other = await ownWorkspace();
    expect((await other.admin.get(`${workspace.path}/auth/me`)).status).toBe(403);
    expect((await as().get(`${workspace.path}/auth/me`)).status).toBe(401);
  });
});

describe('the audit of logins', () => {
  it('keeps failures and successes at the scope of the workspace, under the name that was tried', async () => {
    const own = await ownWorkspace();
    const { email, password } = await own.login();
    await as().post(`${own.path}/auth/admin/login`, { email, password: 'a wrong password' });
    expectOk(await as().post(`${own.path}/auth/admin/login`, { email: email.toUpperCase(), password }));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?actor=${email}`));
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'login_success',
      'login_failed',
      'login_success',
    ]);
    expect(JSON.stringify(items)).not.toContain(password);
    const system = expectOk(await own.master.get(`/api/system/audit?actor=${email}`));
    expect(system.items).toEqual([]);
  });

  it('keeps the master’s at the scope of the system', async () => {
    const username = `nobody-${randomUUID()}`;
    await as().post(masterLogin, { username, password: 'a wrong password' });
    const { items } = expectOk(await (await master()).get(`/api/system/audit?actor=${username}`));
    expect(items).toMatchObject([{ action: 'login_failed', actor: username, target: username }]);
  });
});
