// End-users come in by password: register, login, refresh, logout, and who they are.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';
import { claimsOf, cookiesOf } from '../../harness/tokens.ts';

const password = 'a password of the user';
let own: OwnWorkspace;
let other: OwnWorkspace;
let app: OwnApp;
let auth: string;

beforeAll(async () => {
  [own, other] = await Promise.all([ownWorkspace(), ownWorkspace()]);
  app = await own.app();
  auth = `${own.path}/auth`;
});

const userShape = {
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  email: expect.any(String),
  verified: false,
  has_password: true,
  totp_enabled: false,
  last_login: null,
  oauth_providers: [],
  created_at: expect.stringMatching(/Z$/),
  updated_at: expect.stringMatching(/Z$/),
};

describe('register', () => {
  it('answers the user, without tokens and without a hash', async () => {
    const email = freshEmail();
    const response = await as().post(`${auth}/users/register`, { email: email.toUpperCase(), password });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({ ...userShape, email });
    expect(Object.keys(response.body)).toEqual(Object.keys({ ...userShape, email }));
    expect(cookiesOf(response)).toEqual([]);
  });

  it('refuses an email that is taken, whatever its case', async () => {
    const { email } = await ownUser(own);
    const again = await as().post(`${auth}/users/register`, { email: email.toUpperCase(), password });
    expect(again.status).toBe(409);
    const message = 'a user with this email already exists';
    const errors = [{ path: 'email', code: 'taken', message }];
    expect(again.body).toEqual({ code: 'conflict', message, errors });
  });

  it('lets one of several at the same time win', async () => {
    const email = freshEmail();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => as().post(`${auth}/users/register`, { email, password })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('takes the same email in another workspace', async () => {
    const { email } = await ownUser(own);
    expect((await as().post(`${other.path}/auth/users/register`, { email, password })).status).toBe(201);
  });

  it.each([
    ['a password that is too short', { password: 'seven77' }, 'password: must have at least 8 characters'],
    [
      'one that is short, if not in bytes',
      { password: '🔑'.repeat(7) },
      'password: must have at least 8 characters',
    ],
    ['one that is too long', { password: 'a'.repeat(257) }, 'password: must have at most 256 characters'],
    ['no address', { email: 'nobody' }, 'email: must be an email address'],
    ['an id', { id: 'x' }, 'id: unknown field'],
    ['verified', { verified: true }, 'verified: unknown field'],
  ])('refuses %s', async (_what, members, message) => {
    const body = { email: freshEmail(), password, ...members };
    const response = await as().post(`${auth}/users/register`, body);
    expect(response).toMatchObject({ status: 400, body: { code: 'validation', message } });
  });

  it('is 404 in a workspace that does not exist, 403 with a token of another, 401 with a bad one', async () => {
    const body = { email: freshEmail(), password };
    const stranger = await ownUser(other);
    const unknown = await as().post('/api/workspaces/ghost/auth/users/register', body);
    expect(unknown.body.code).toBe('workspace_not_found');
    expect((await as(stranger.token).post(`${auth}/users/register`, body)).body.code).toBe('forbidden');
    expect((await as('nonsense').post(`${auth}/users/register`, body)).body.code).toBe('unauthorized');
  });

  it('is audited', async () => {
    const user = await ownUser(own);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?actor=${user.email}`));
    expect(items.map(({ action }: { action: string }) => action)).toEqual(['login_success', 'user_register']);
  });
});

describe('login', () => {
  it('answers tokens of the workspace, cookies, and the user with the time of the login', async () => {
    const { email } = await ownUser(own);
    const response = await as().post(`${auth}/users/login`, { email: ` ${email.toUpperCase()} `, password });
    expect(response.status).toBe(200);
    expect(response.body.user).toEqual({ ...userShape, email, last_login: expect.stringMatching(/Z$/) });
    const claims = claimsOf(response.body.access_token);
    expect(claims).toMatchObject({ role: 'user', workspace: own.id, sub: response.body.user.id });
    expect(claims).not.toHaveProperty('app');
    expect(cookiesOf(response).map((cookie) => cookie.split('=')[0])).toEqual(['svc_at', 'svc_rt']);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });

  it('answers tokens for one app when asked for it, and none for an app that does not exist', async () => {
    const { email } = await ownUser(own);
    const login = (id: string) => as().post(`${auth}/users/login`, { email, password, app: id });
    expect(claimsOf(expectOk(await login(app.id)).access_token)).toMatchObject({ app: app.id });
    expect((await login('ghost')).body.code).toBe('forbidden');
  });

  it('answers a wrong password and an unknown email alike', async () => {
    const { email } = await ownUser(own);
    const wrong = await as().post(`${auth}/users/login`, { email, password: 'wrong password' });
    const unknown = await as().post(`${auth}/users/login`, { email: freshEmail(), password });
    expect(wrong.status).toBe(401);
    expect(wrong.body.code).toBe('bad_credentials');
    expect(unknown.body).toEqual(wrong.body);
  });

  it('does not know the users of another workspace', async () => {
    const { email } = await ownUser(other);
    expect((await as().post(`${auth}/users/login`, { email, password })).status).toBe(401);
  });

  it.each(['known', 'unknown'])(
    'auth.lockout: the fifth failure locks a %s email in any spelling',
    async (kind) => {
      const email = kind === 'known' ? (await ownUser(own)).email : freshEmail();
      const attempt = (name: string, text = 'wrong password') =>
        as().post(`${auth}/users/login`, { email: name, password: text });
      const spellings = [email, email.toUpperCase(), ` ${email}`, `${email} `, email];
      for (const name of spellings) expect((await attempt(name)).status).toBe(401);
      const locked = await attempt(email, password);
      expect(locked.body.code).toBe('too_many_requests');
      expect(Number(locked.headers.get('Retry-After'))).toBeGreaterThan(290);
    },
  );
});

describe('refresh and logout', () => {
  it('exchanges a token once, at both routes, for the same user', async () => {
    const user = await ownUser(own);
    const first = await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken });
    expect(expectOk(first).user.id).toBe(user.id);
    const second = await as().post('/_/auth/refresh', { refresh_token: first.body.refresh_token });
    expect(expectOk(second).user.email).toBe(user.email);
    expect((await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken })).status).toBe(401);
    // The reuse ended the whole login.
    const rest = await as().post('/_/auth/refresh', { refresh_token: second.body.refresh_token });
    expect(rest.body.code).toBe('unauthorized');
  });

  it('refuses the tokens of admins at the route of users, and the other way round', async () => {
    const user = await ownUser(own);
    const { email, password: secret } = await own.login();
    const admin = expectOk(await as().post(`${auth}/admin/login`, { email, password: secret }));
    const wrong = [
      await as().post(`${auth}/users/refresh`, { refresh_token: admin.refresh_token }),
      await as().post(`${auth}/refresh`, { refresh_token: user.refreshToken }),
      await as().post(`${other.path}/auth/users/refresh`, { refresh_token: user.refreshToken }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  it('keeps the app that the login was for', async () => {
    const { email } = await ownUser(own);
    const session = expectOk(await as().post(`${auth}/users/login`, { email, password, app: app.id }));
    const body = { refresh_token: session.refresh_token };
    const next = expectOk(await as().post(`${auth}/users/refresh`, body));
    expect(claimsOf(next.access_token)).toMatchObject({ app: app.id });
  });

  it('session.revoke-all: logout ends both tokens, and is audited under the email', async () => {
    const user = await ownUser(own);
    expectOk(await user.post('/_/auth/logout'));
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    const refreshed = await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken });
    expect(refreshed.status).toBe(401);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?actor=${user.email}&action=logout`));
    expect(items).toHaveLength(1);
  });

  it('shows who is asking', async () => {
    const user = await ownUser(own);
    const me = expectOk(await user.get(`${auth}/me`));
    expect(me).toEqual({ ...userShape, id: user.id, email: user.email, last_login: expect.any(String) });
  });
});
