// Refresh tokens: each works once, and using one again ends its login.
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { as, expectOk, master, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { claimsOf, cookiesOf } from '../../../harness/tokens.ts';
import { ownUser } from '../../../harness/users.ts';

const masterRefresh = '/_/auth/refresh';
let workspace: OwnWorkspace;
let workspaceRefresh: string;

beforeAll(async () => {
  workspace = await ownWorkspace();
  workspaceRefresh = `${workspace.path}/auth/refresh`;
});

async function masterSession() {
  const { masterPassword: password } = inject('server');
  return expectOk(await as().post('/_/auth/admin/login', { username: 'admin', password }));
}

async function adminSession(appIds: string[] = []) {
  const { email, password, id } = await workspace.login(appIds);
  const session = expectOk(await as().post(`${workspace.path}/auth/admin/login`, { email, password }));
  return { ...session, id, email };
}

async function statusOf(path: string, refreshToken: string): Promise<number> {
  return (await as().post(path, { refresh_token: refreshToken })).status;
}

/** Both places that sessions are kept in: the control database and a workspace's. */
const places = [
  { who: 'a master', session: masterSession, path: () => masterRefresh },
  { who: 'an admin', session: adminSession, path: () => workspaceRefresh },
];

describe.each(places)('refresh.rotation: the token of $who', ({ session, path }) => {
  it('is exchanged for a new pair, with cookies', async () => {
    const old = await session();
    const response = await as().post(path(), { refresh_token: old.refresh_token });
    expect(response.status).toBe(200);
    expect(Object.keys(response.body).sort()).toEqual(['access_token', 'admin', 'refresh_token']);
    expect(response.body.admin).toEqual(old.admin);
    expect(response.body.refresh_token).not.toBe(old.refresh_token);
    expect(claimsOf(response.body.access_token).jti).not.toBe(claimsOf(old.access_token).jti);
    expect(cookiesOf(response)).toEqual([
      `svc_at=${response.body.access_token}; Path=/; Max-Age=900; HttpOnly; SameSite=Strict; Priority=High`,
      `svc_rt=${response.body.refresh_token}; Path=/_/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Priority=High`,
    ]);
    expect((await as(response.body.access_token).get('/api/workspaces')).status).toBe(200);
  });

  it('fails at once when it is used again', async () => {
    const old = await session();
    expect(await statusOf(path(), old.refresh_token)).toBe(200);
    const again = await as().post(path(), { refresh_token: old.refresh_token });
    expect([again.status, again.body.code]).toEqual([401, 'unauthorized']);
  });

  it('lets exactly one of 50 exchanges at once win', async () => {
    const old = await session();
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(path(), old.refresh_token)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(49);
  });
});

describe.each(places)('refresh.reuse-detection: the token of $who', ({ session, path }) => {
  it('ends the whole login when it is used again, and no other login', async () => {
    const [stolen, other] = [await session(), await session()];
    const second = expectOk(await as().post(path(), { refresh_token: stolen.refresh_token }));
    const third = expectOk(await as().post(path(), { refresh_token: second.refresh_token }));
    expect(await statusOf(path(), stolen.refresh_token)).toBe(401);
    expect(await statusOf(path(), third.refresh_token)).toBe(401);
    expect(await statusOf(path(), other.refresh_token)).toBe(200);
  });

  it('ends the access tokens of that login, and no others', async () => {
    const [stolen, other] = [await session(), await session()];
    const second = expectOk(await as().post(path(), { refresh_token: stolen.refresh_token }));
    expect(await statusOf(path(), stolen.refresh_token)).toBe(401);
    const statuses = [stolen, second, other].map(async ({ access_token }) =>
      (await as(access_token).get('/api/workspaces')).status
    );
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
  });
});

describe('refresh.reuse-detection: the audit', () => {
  it('has one entry for a login that ended, however often the token is tried', async () => {
    const { refresh_token: token, email } = await adminSession();
    expect(await statusOf(workspaceRefresh, token)).toBe(200);
    for (let count = 0; count < 3; count++) expect(await statusOf(workspaceRefresh, token)).toBe(401);
    const { items } = expectOk(
      await workspace.admin.get(`${workspace.path}/audit?action=token_reuse&actor=${email}`),
    );
    expect(items).toMatchObject([{ action: 'token_reuse', actor: email }]);
  });

  it('has the master’s at the scope of the system', async () => {
    const session = await masterSession();
    await as().post(masterRefresh, { refresh_token: session.refresh_token });
    await as().post(masterRefresh, { refresh_token: session.refresh_token });
    const { items } = expectOk(await (await master()).get('/api/system/audit?action=token_reuse'));
    const family = claimsOf(session.access_token).jti;
    expect(items).toContainEqual(
      expect.objectContaining({
        actor: 'admin',
        details: {
          as: 'master',
          family,
          request_id: expect.any(String),
          ip: '127.0.0.1',
          user_agent: 'node',
        },
      }),
    );
  });
});

describe('the refresh endpoint of the server', () => {
  it('takes the token of an admin too, from the body or from the cookie', async () => {
    const session = await adminSession();
    const byBody = expectOk(await as().post(masterRefresh, { refresh_token: session.refresh_token }));
    const byCookie = await as().post(masterRefresh, undefined, { Cookie: `svc_rt=${byBody.refresh_token}` });
    expect(expectOk(byCookie).admin.id).toBe(session.id);
    expect(claimsOf(byCookie.body.access_token)).toMatchObject({
      role: 'workspace_admin',
      workspace: workspace.id,
    });
  });

  it('prefers the body to the cookie', async () => {
    const [a, b] = [await adminSession(), await adminSession()];
    const response = await as().post(masterRefresh, { refresh_token: a.refresh_token }, {
      Cookie: `svc_rt=${b.refresh_token}`,
    });
    expect(expectOk(response).admin.id).toBe(a.id);
    expect(await statusOf(masterRefresh, b.refresh_token)).toBe(200);
  });

  it.each([
    ['no token at all', undefined, 401],
    ['an empty object', {}, 401],
    ['a token of nobody', { refresh_token: `rfsh_${'A'.repeat(86)}` }, 401],
    ['something else', { refresh_token: 'x' }, 401],
    ['a number', { refresh_token: 5 }, 400],
    ['an unknown member', { refresh_token: 'x', app: 'y' }, 400],
    ['a list', '[]', 422],
  ])('refuses %s', async (_what, body, status) => {
    const response = await as().post(masterRefresh, body);
    expect(response.status).toBe(status);
    expect(cookiesOf(response)).toEqual([]);
  });

  it('refuses an access token in place of a refresh token', async () => {
    const { access_token } = await masterSession();
    expect([400, 401]).toContain(await statusOf(masterRefresh, access_token));
  });
});

describe('the refresh endpoint of a workspace', () => {
  it('does not use up a token of the master or of another workspace', async () => {
    const other = await ownWorkspace();
    const session = await adminSession();
    const root = await masterSession();
    expect(await statusOf(`${other.path}/auth/refresh`, session.refresh_token)).toBe(401);
    expect(await statusOf(workspaceRefresh, root.refresh_token)).toBe(401);
    expect(await statusOf(workspaceRefresh, session.refresh_token)).toBe(200);
    expect(await statusOf(masterRefresh, root.refresh_token)).toBe(200);
  });

  it('does not use up a token of an end-user, nor do end-users’ own one of an admin', async () => {
    const [user, admin] = [await ownUser(workspace), await adminSession()];
    const userRefresh = `${workspace.path}/auth/users/refresh`;
    expect(await statusOf(workspaceRefresh, user.refreshToken)).toBe(401);
    expect(await statusOf(userRefresh, admin.refresh_token)).toBe(401);
    expect(await statusOf(userRefresh, user.refreshToken)).toBe(200);
    expect(await statusOf(workspaceRefresh, admin.refresh_token)).toBe(200);
  });

  it('ignores the cookie', async () => {
    const session = await adminSession();
    const headers = { Cookie: `svc_rt=${session.refresh_token}` };
    expect((await as().post(workspaceRefresh, {}, headers)).status).toBe(400);
    expect((await as().post(workspaceRefresh, undefined, headers)).status).toBe(422);
    expect(await statusOf(workspaceRefresh, session.refresh_token)).toBe(200);
  });

  it('reads the rights anew', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const session = await adminSession([a.id]);
    expectOk(await workspace.master.patch(`${workspace.path}/admins/${session.id}`, { app_ids: [b.id] }));
    const next = expectOk(await as().post(workspaceRefresh, { refresh_token: session.refresh_token }));
    expect(claimsOf(next.access_token)).toMatchObject({ role: 'app_admin', app: b.id });
  });

  it('does not know the tokens of a workspace that had the same id', async () => {
    const own = await ownWorkspace();
    const { email, password } = await own.login();
    const session = expectOk(await as().post(`${own.path}/auth/admin/login`, { email, password }));
    expectOk(await own.master.delete(own.path));
    expectOk(await own.master.post('/api/workspaces', { id: own.id, name: 'Again' }));
    expect(await statusOf(`${own.path}/auth/refresh`, session.refresh_token)).toBe(401);
    expect(await statusOf(masterRefresh, session.refresh_token)).toBe(401);
  });
});
