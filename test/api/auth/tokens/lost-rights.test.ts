// Rights that change and sessions that end while tokens are out.
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { as, expectOk, master, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { writtenRevocations } from '../../../harness/revoked.ts';
import { claimsOf, cookiesOf } from '../../../harness/tokens.ts';

let workspace: OwnWorkspace;
beforeAll(async () => {
  workspace = await ownWorkspace();
});

/** An admin with a session of its own. */
async function admin(appIds: string[] = []) {
  const { email, password, id } = await workspace.login(appIds);
  const session = expectOk(await as().post(`${workspace.path}/auth/admin/login`, { email, password }));
  return {
    id,
    email,
    password,
    path: `${workspace.path}/admins/${id}`,
    caller: as(session.access_token),
    refresh: async () =>
      (await as().post(`${workspace.path}/auth/refresh`, { refresh_token: session.refresh_token })).status,
    login: async (given = password) =>
      await as().post(`${workspace.path}/auth/admin/login`, { email, password: given }),
    session,
  };
}

describe('jwt.scope-claims: an admin whose apps change', () => {
  it('loses a removed app and gains an added one with the very next request of a token that is out', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const ann = await admin([a.id]);
    expect((await ann.caller.get(a.path)).status).toBe(200);
    expect((await ann.caller.get(b.path)).status).toBe(403);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [b.id] }));
    expect((await ann.caller.get(a.path)).status).toBe(403);
    expect((await ann.caller.get(b.path)).status).toBe(200);
    expect(expectOk(await ann.caller.get(`${workspace.path}/apps`)).items.map(({ id }: { id: string }) => id))
      .toEqual([b.id]);
  });

  it('becomes a workspace admin and back', async () => {
    const a = await workspace.app();
    const ann = await admin([a.id]);
    const create = () => ann.caller.post(`${workspace.path}/apps`, { name: 'One more' });
    expect((await create()).status).toBe(403);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [] }));
    expect((await create()).status).toBe(201);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [a.id] }));
    expect((await create()).status).toBe(403);
    expect((await ann.caller.get(a.path)).status).toBe(200);
  });

  it('keeps a token that was asked for one app to that app', async () => {
    const [a, b] = [await workspace.app(), await workspace.app()];
    const ann = await admin();
    const login = { email: ann.email, password: ann.password, app: a.id };
    const narrow = as(expectOk(await as().post(`${workspace.path}/auth/admin/login`, login)).access_token);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [a.id, b.id] }));
    expect((await narrow.get(a.path)).status).toBe(200);
    expect((await narrow.get(b.path)).status).toBe(403);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [b.id] }));
    expect((await narrow.get(a.path)).status).toBe(403);
    expect((await narrow.get(b.path)).status).toBe(403);
  });

  it('reaches nothing, instead of everything, when its only app is deleted, and also not the app made again', async () => {
    const a = await workspace.app();
    const ann = await admin([a.id]);
    const other = await workspace.app();
    expectOk(await workspace.admin.delete(a.path));
    expect((await ann.caller.get(other.path)).status).toBe(403);
    expect((await ann.caller.post(`${workspace.path}/apps`, { name: 'Mine' })).status).toBe(403);
    expectOk(await workspace.admin.post(`${workspace.path}/apps`, { id: a.id, name: 'Again' }));
    expect((await ann.caller.get(a.path)).status).toBe(403);
    const next = expectOk(await ann.login());
    expect(claimsOf(next.access_token)).toMatchObject({ role: 'app_admin', app: [] });
    expect((await as(next.access_token).get(a.path)).status).toBe(403);
    expectOk(await workspace.master.patch(ann.path, { app_ids: [a.id] }));
    expect((await ann.caller.get(a.path)).status).toBe(200);
  });

  it('refuses the tokens of a workspace that was deleted also when its id is used again', async () => {
    const own = await ownWorkspace();
    expect((await own.admin.get(own.path)).status).toBe(200);
    expectOk(await own.master.delete(own.path));
    expect((await own.admin.get(own.path)).status).toBe(401);
    expectOk(await own.master.post('/api/workspaces', { id: own.id, name: 'Again' }));
    expect((await own.admin.get(own.path)).status).toBe(401);
    const newcomer = await own.login();
    expect((await newcomer.get(own.path)).status).toBe(200);
  });
});

describe('session.revoke-all', () => {
  it('ends every token of an admin that is removed, and its logins', async () => {
    const ann = await admin();
    expectOk(await workspace.master.delete(ann.path));
    expect((await ann.caller.get(workspace.path)).body.code).toBe('unauthorized');
    expect(await writtenRevocations(ann.id)).toEqual(['subject']);
    expect(await ann.refresh()).toBe(401);
    expect((await ann.login()).body.code).toBe('bad_credentials');
  });

  it('ends every token of an admin whose password the master changes, and lets the new one in at once', async () => {
    const ann = await admin();
    expectOk(await workspace.master.patch(ann.path, { password: 'another password' }));
    expect((await ann.caller.get(workspace.path)).status).toBe(401);
    expect(await ann.refresh()).toBe(401);
    expect((await ann.login()).status).toBe(401);
    const next = expectOk(await ann.login('another password'));
    expect((await as(next.access_token).get(workspace.path)).status).toBe(200);
    expect((await as().post(`${workspace.path}/auth/refresh`, { refresh_token: next.refresh_token })).status)
      .toBe(200);
  });

  it('spares the tokens of an admin whose name or email changes', async () => {
    const ann = await admin();
    expectOk(await workspace.master.patch(ann.path, { name: 'Anna', email: `new-${ann.email}` }));
    expect((await ann.caller.get(workspace.path)).status).toBe(200);
    expect(await ann.refresh()).toBe(200);
  });

  it('ends, at logout, the access token that came with it and its refresh token, and no other session', async () => {
    const ann = await admin();
    const other = expectOk(await ann.login());
    const response = await ann.caller.post('/_/auth/logout');
    expect(response).toMatchObject({ status: 200, body: { ok: true } });
    expect((await ann.caller.get(workspace.path)).status).toBe(401);
    expect(await ann.refresh()).toBe(401);
    expect((await as(other.access_token).get(workspace.path)).status).toBe(200);
  });

  it('ends, at logout by cookies alone, both tokens', async () => {
    const ann = await admin();
    const { access_token, refresh_token } = ann.session;
    expectOk(
      await as().post('/_/auth/logout', undefined, {
        Cookie: `svc_at=${access_token}; svc_rt=${refresh_token}`,
      }),
    );
    expect((await ann.caller.get(workspace.path)).status).toBe(401);
    expect(await ann.refresh()).toBe(401);
  });

  it('ends, at logout by the refresh token alone, the access token that was issued with it', async () => {
    const ann = await admin();
    expectOk(await as().post('/_/auth/logout', { refresh_token: ann.session.refresh_token }));
    expect((await ann.caller.get(workspace.path)).status).toBe(401);
    expect(await ann.refresh()).toBe(401);
  });

  it.each(['newest', 'first'])(
    'ends, at logout by its %s refresh token, all access tokens of a login',
    async (which) => {
      const { session, caller } = await admin();
      const { refresh_token } = session;
      const next = expectOk(await as().post('/_/auth/refresh', { refresh_token }));
      const token = which === 'first' ? refresh_token : next.refresh_token;
      expectOk(await as().post('/_/auth/logout', { refresh_token: token }));
      expect((await caller.get(workspace.path)).status).toBe(401);
      expect((await as(next.access_token).get(workspace.path)).status).toBe(401);
      expect((await as().post('/_/auth/refresh', { refresh_token: next.refresh_token })).status).toBe(401);
    },
  );

  it('clears both cookies at logout, also for a stranger', async () => {
    for (const caller of [as(), as('nonsense'), await master()]) {
      const response = await caller.post('/_/auth/logout');
      expect(response.status).toBe(200);
      expect(cookiesOf(response)).toEqual([
        'svc_at=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Priority=High',
        'svc_rt=; Path=/_/auth; Max-Age=0; HttpOnly; SameSite=Strict; Priority=High',
      ]);
    }
  });

  it('audits a logout when it knows whose it is', async () => {
    const ann = await admin();
    expectOk(await ann.caller.post('/_/auth/logout'));
    const { items } = expectOk(
      await workspace.admin.get(`${workspace.path}/audit?action=logout&actor=${ann.email}`),
    );
    expect(items).toMatchObject([{ action: 'logout', target: ann.email }]);
  });
});

describe('cookie.csrf', () => {
  const url = () => new URL(inject('server').url);

  it('takes a cookie for reading from any page', async () => {
    const { access_token } = (await admin()).session;
    const headers = { Cookie: `svc_at=${access_token}`, Origin: 'https://evil.example' };
    expect((await as().get(workspace.path, headers)).status).toBe(200);
  });

  it.each([
    ['no Origin', undefined, 403],
    ['a foreign Origin', 'https://evil.example', 403],
    ['the Origin null', 'null', 403],
    ['an Origin that begins like ours', 'prefix', 403],
    ['our Origin on another port', 'port', 403],
    ['our own Origin', 'own', 201],
  ])('with %s answers a change by cookie', async (_what, kind, status) => {
    const { access_token } = (await admin()).session;
    const { host, hostname } = url();
    const origins: Record<string, string> = {
      own: `http://${host}`,
      port: `http://${hostname}:1`,
      prefix: `http://${host}.evil.example`,
    };
    const origin = kind === undefined ? undefined : origins[kind] ?? kind;
    const response = await as().post(`${workspace.path}/apps`, { name: 'By cookie' }, {
      Cookie: `svc_at=${access_token}`,
      ...(origin === undefined ? {} : { Origin: origin }),
    });
    expect(response.status).toBe(status);
  });

  it('asks nothing of a Bearer token', async () => {
    const { caller } = await admin();
    const headers = { Origin: 'https://evil.example' };
    expect((await caller.post(`${workspace.path}/apps`, { name: 'By token' }, headers)).status).toBe(201);
  });

  it.each(['/_/auth/refresh', '/_/auth/logout'])(
    '%s refuses a foreign Origin and needs none',
    async (path) => {
      const { refresh_token } = (await admin()).session;
      const headers = { Cookie: `svc_rt=${refresh_token}` };
      const foreign = await as().post(path, undefined, { ...headers, Origin: 'https://evil.example' });
      expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
      expect(cookiesOf(foreign)).toEqual([]);
      expect((await as().post(path, undefined, headers)).status).toBe(200);
    },
  );
});
