// Impersonation: a short token of an end-user for an admin.
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
} from '../../harness/api.ts';
import { type OwnUser, ownUser } from '../../harness/users.ts';

let workspace: OwnWorkspace;
let app: OwnApp;
let user: OwnUser;

beforeAll(async () => {
  workspace = await ownWorkspace();
  app = await workspace.app();
  user = await ownUser(workspace);
});

function ask(admin: Caller, body?: unknown, id = user.id) {
  return admin.post(`${workspace.path}/users/${id}/impersonate`, body);
}

async function impersonate(admin: Caller, body?: unknown, id = user.id): Promise<Caller> {
  const { access_token } = expectOk(await ask(admin, body, id));
  return as(access_token);
}

describe('a token of an end-user', () => {
  it('acts as the user, says who asked for it, and lives for 15 minutes', async () => {
    const admin = await workspace.login();
    const response = await ask(admin);
    expect(response.status).toBe(201);
    expect(Object.keys(response.body).sort()).toEqual(['access_token', 'expires_at']);
    expect(response.headers.getSetCookie()).toEqual([]);
    const claims = decodeJwt(response.body.access_token);
    expect(claims).toMatchObject({
      sub: user.id,
      role: 'user',
      workspace: workspace.id,
      act: { sub: admin.id, role: 'workspace_admin' },
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(900);
    expect(Date.parse(response.body.expires_at)).toBe(Number(claims.exp) * 1_000);
    const me = expectOk(await as(response.body.access_token).get(`${workspace.path}/auth/me`));
    expect(me).toMatchObject({ id: user.id, email: user.email });
  });

  it('is in the audit log, without the token itself', async () => {
    const admin = await workspace.login();
    const { access_token } = expectOk(await ask(admin, { app: app.id, ttl_sec: 60 }));
    const path = `${workspace.path}/audit?action=user_impersonate&actor=${encodeURIComponent(admin.email)}`;
    const { items } = expectOk(await workspace.admin.get(path));
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ actor: admin.email, target: user.email });
    expect(items[0].details).toMatchObject({ id: user.id, token: decodeJwt(access_token).jti, app: app.id });
    expect(JSON.stringify(items)).not.toContain(access_token);
  });

  it('is marked for hooks', async () => {
    const admin = await workspace.login();
    const source = "routerAdd('GET', '/whoami', (e) => e.auth);";
    expectOk(await app.admin.put(`${app.path}/hooks/whoami.js`, { source }));
    const acting = await impersonate(admin);
    const own = expectOk(await user.get(`${app.path}/custom/whoami`));
    const auth = { ...own, impersonator: admin.id };
    expect(expectOk(await acting.get(`${app.path}/custom/whoami`))).toEqual(auth);
    expect(own).not.toHaveProperty('impersonator');
  });

  it('is bound to one app when asked', async () => {
    const other = await workspace.app();
    const acting = await impersonate(workspace.admin, { app: app.id });
    expect((await acting.get(`${app.path}/files`)).status).toBe(200);
    expect((await acting.get(`${other.path}/files`)).status).toBe(403);
  });

  it('changes nothing of the account', async () => {
    const acting = await impersonate(workspace.admin);
    const auth = `${workspace.path}/auth`;
    const refused = [
      await acting.post(`${auth}/password`, { current_password: user.password, new_password: 'another one' }),
      await acting.post(`${auth}/email-change/request`, {
        new_email: 'a@example.com',
        password: user.password,
      }),
      await acting.post(`${auth}/verify-email/request`),
      await acting.post(`${auth}/totp/enroll`),
      await acting.post(`${auth}/totp/confirm`, { code: '123456' }),
      await acting.post(`${auth}/totp/disable`, { code: '123456' }),
      await acting.delete(`${auth}/sessions`),
      await acting.delete(`${auth}/sessions/${user.id}`),
      await acting.delete(`${auth}/me`),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [403, 'forbidden']),
    );
  });
});

describe('who may ask', () => {
  it('is a workspace admin or above, for users of the workspace alone', async () => {
    const foreign = await ownWorkspace();
    const stranger = await ownUser(foreign);
    expect((await ask(workspace.master)).status).toBe(201);
    expect((await ask(app.admin)).status).toBe(403);
    expect((await ask(user)).status).toBe(403);
    expect((await ask(as())).status).toBe(401);
    expect((await ask(foreign.admin)).status).toBe(403);
    expect((await ask(workspace.admin, {}, stranger.id)).status).toBe(404);
    const admin = await workspace.login();
    expect((await ask(workspace.admin, {}, admin.id)).status).toBe(404);
    expect((await ask(workspace.admin, {}, 'none')).status).toBe(404);
    expect((await ask(workspace.admin, { app: 'none' })).body.code).toBe('app_not_found');
    expect((await ask(await impersonate(workspace.admin))).status).toBe(403);
  });

  it.each([{ ttl_sec: 3_601 }, { ttl_sec: 0 }, { ttl_sec: 1.5 }, { role: 'workspace_admin' }])(
    'is refused %j',
    async (body) => {
      const response = await ask(workspace.admin, body);
      expect([response.status, response.body.code]).toEqual([400, 'validation']);
    },
  );
});

describe('the end of it', () => {
  const statusOf = async (acting: Caller) => (await acting.get(`${workspace.path}/auth/me`)).status;

  it('comes with the user', async () => {
    const gone = await ownUser(workspace);
    const acting = await impersonate(workspace.admin, {}, gone.id);
    expectOk(await workspace.admin.delete(`${workspace.path}/users/${gone.id}`));
    expect(await statusOf(acting)).toBe(401);
  });

  it('comes with the admin, or with other rights of the admin', async () => {
    const [removed, demoted, renewed] = [
      await workspace.login(),
      await workspace.login(),
      await workspace.login(),
    ];
    const tokens = [await impersonate(removed), await impersonate(demoted), await impersonate(renewed)];
    const path = `${workspace.path}/admins`;
    expectOk(await workspace.master.delete(`${path}/${removed.id}`));
    expectOk(await workspace.master.patch(`${path}/${demoted.id}`, { app_ids: [app.id] }));
    expectOk(await workspace.master.patch(`${path}/${renewed.id}`, { password: 'another password of it' }));
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401, 401]);
  });

  it('comes with a logout, which leaves the sessions of the user', async () => {
    const acting = await impersonate(workspace.admin);
    expectOk(await acting.post('/_/auth/logout'));
    expect(await statusOf(acting)).toBe(401);
    expect(await statusOf(user)).toBe(200);
  });
});
