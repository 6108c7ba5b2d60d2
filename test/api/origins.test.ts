// Origins of workspaces: from whose pages a cookie counts, and who may name them.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiResponse,
  as,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
  send,
  serverUrl,
} from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { openForge } from '../harness/forge.ts';
import { handshake } from './realtime/socket-client.ts';

let own: OwnWorkspace;
let other: OwnWorkspace;
let app: OwnApp;
let page: string;
let user: string;

beforeAll(async () => {
  [own, other] = await Promise.all([ownWorkspace(), ownWorkspace()]);
  app = await own.app();
  page = `https://www.${own.id}.example`;
  user = (await openForge()).user(own.id);
  expect(
    expectOk(await own.master.put(`${own.path}/origins`, { origins: [page.toUpperCase(), `${page}:443`] })),
  )
    .toEqual({ origins: [page] });
});

/** Sends what a browser does for a page of this origin. */
function fromPage(
  method: string,
  path: string,
  { cookie, origin = page }: { cookie: string; origin?: string },
): Promise<ApiResponse> {
  const body = method === 'GET' ? {} : { body: {} };
  return send(serverUrl() + path, { method, headers: { Origin: origin, Cookie: cookie }, ...body });
}

const readableWithCookies = ({ headers }: ApiResponse) =>
  headers.get('Access-Control-Allow-Origin') !== null &&
  headers.get('Access-Control-Allow-Credentials') === 'true';

describe('a page of an origin of one workspace', () => {
  it('acts by the cookies of that workspace', async () => {
    const reading = await fromPage('GET', own.path, { cookie: `svc_at=${own.admin.token}` });
    expect([reading.status, readableWithCookies(reading)]).toEqual([200, true]);
    expect(reading.headers.get('Vary')).toContain('Origin');
    const writing = await fromPage('POST', `${own.path}/apps`, { cookie: `svc_at=${own.admin.token}` });
    expect(writing.status).toBe(400);
    expect((await fromPage('GET', `${own.path}/auth/me`, { cookie: `svc_at=${user}` })).status).not.toBe(403);
  });

  it("does not act by the cookie of the master, nor by that of another workspace's admin", async () => {
    for (const token of [own.master.token, other.admin.token]) {
      const cookie = `svc_at=${token}`;
      for (const path of ['/api/workspaces', own.path, '/api/system/audit']) {
        expectError(await fromPage('GET', path, { cookie }), 403, 'forbidden');
      }
      expectError(await fromPage('POST', `${own.path}/apps`, { cookie }), 403, 'forbidden');
      const elsewhere = await fromPage('GET', other.path, { cookie });
      expect([elsewhere.status, readableWithCookies(elsewhere)]).toEqual([403, false]);
    }
  });

  it('opens WebSockets by the cookies of that workspace alone', async () => {
    const port = Number(new URL(serverUrl()).port);
    const open = async (token: string | undefined, origin = page) =>
      (await handshake(port, {
        at: `${app.path}/realtime`,
        headers: { Cookie: `svc_at=${token}`, Origin: origin },
      })).status;
    expect(await open(own.admin.token)).toBe(101);
    expect(await open(own.master.token)).toBe(403);
    expect(await open(other.admin.token)).toBe(403);
    expect(await open(own.admin.token, 'https://foe.example')).toBe(403);
  });

  it('refreshes and ends sessions of that workspace alone', async () => {
    const refreshTokenOf = async ({ path, login }: OwnWorkspace) => {
      const { email, password } = await login();
      return expectOk(await as().post(`${path}/auth/admin/login`, { email, password })).refresh_token;
    };
    const foreign = `svc_rt=${await refreshTokenOf(other)}`;
    for (const path of ['/_/auth/refresh', '/_/auth/logout']) {
      const refused = await fromPage('POST', path, { cookie: foreign });
      expectError(refused, 403, 'forbidden');
      expect(refused.headers.getSetCookie()).toEqual([]);
      expectError(await fromPage('POST', path, { cookie: `svc_at=${own.master.token}` }), 403, 'forbidden');
    }
    const refreshed = await fromPage('POST', '/_/auth/refresh', {
      cookie: `svc_rt=${await refreshTokenOf(own)}`,
    });
    expect([refreshed.status, readableWithCookies(refreshed)]).toEqual([200, true]);
    const cookie = `svc_at=${refreshed.body.access_token}; svc_rt=${refreshed.body.refresh_token}`;
    expect((await fromPage('POST', '/_/auth/logout', { cookie })).status).toBe(200);
    expectOk(await as().post('/_/auth/refresh', { refresh_token: foreign.slice('svc_rt='.length) }));
  });

  it('may ask first, with credentials where cookies count and nowhere else', async () => {
    const ask = (path: string, origin = page) =>
      send(serverUrl() + path, {
        method: 'OPTIONS',
        headers: { 'Origin': origin, 'Access-Control-Request-Method': 'PUT' },
      });
    for (const path of [`${app.path}/collections`, '/_/auth/refresh']) {
      const allowed = await ask(path);
      expect([allowed.status, readableWithCookies(allowed)]).toEqual([204, true]);
      expect(allowed.headers.get('Vary')).toContain('Origin');
    }
    for (const refused of [await ask(other.path), await ask(own.path, 'https://foe.example')]) {
      expect(refused.headers.get('Access-Control-Allow-Origin')).toBeNull();
      expect(refused.headers.get('Vary')).toContain('Origin');
    }
  });

  it('counts no longer once the origin is taken off the list, and never for a later workspace of that id', async () => {
    const brief = await ownWorkspace();
    const origin = `https://${brief.id}.example`;
    const asks = async (token: string | undefined) =>
      (await fromPage('GET', brief.path, { origin, cookie: `svc_at=${token}` })).headers
        .get('Access-Control-Allow-Origin');
    expectOk(await brief.master.put(`${brief.path}/origins`, { origins: [origin] }));
    expect(await asks(brief.admin.token)).toBe(origin);
    expectOk(await brief.master.put(`${brief.path}/origins`, { origins: [] }));
    expect(await asks(brief.admin.token)).toBeNull();
    expectOk(await brief.master.put(`${brief.path}/origins`, { origins: [origin] }));
    expectOk(await brief.master.delete(brief.path));
    expectOk(await brief.master.post('/api/workspaces', { id: brief.id, name: 'Later' }));
    await expect.poll(() => asks(brief.admin.token)).toBeNull();
    expect(expectOk(await brief.master.get(`${brief.path}/origins`))).toEqual({ origins: [] });
  });
});

describe('PUT …/origins', () => {
  it('is audited with what was there before', async () => {
    const { items } = expectOk(await own.master.get('/api/system/audit?action=origins_set&limit=200'));
    expect(items).toContainEqual(expect.objectContaining({
      action: 'origins_set',
      target: own.id,
      details: expect.objectContaining({ origins: [page], from: [] }),
    }));
  });

  it.each([
    'https://*.example.com',
    '*',
    'null',
    'https://a.example/path',
    'https://',
    'a.example',
    'https://u@a.example',
  ])('refuses %s, and names it', async (origin) => {
    const response = await own.master.put(`${own.path}/origins`, {
      origins: ['capacitor://localhost', origin],
    });
    expectError(response, 400, 'validation');
    expect(response.body.message).toContain('origins.1');
  });

  it('lets a workspace admin add what policy cors.origins allows, and keep what the master has added', async () => {
    const path = `${own.path}/origins`;
    const fine = `https://a.b.${own.id}.test`;
    const app = 'capacitor://localhost';
    expectError(await own.admin.put(path, { origins: [page, fine] }), 400, 'policy_violation');
    const allowed = [`https://*.${own.id}.test`, app];
    expectOk(await own.master.put('/api/system/policies/cors.origins', { kind: 'enum_set', allowed }));
    expect(expectOk(await own.admin.put(path, { origins: [page, fine, app] })).origins).toEqual([
      page,
      fine,
      app,
    ]);
    for (
      const refused of [
        `https://${own.id}.test`,
        `http://a.${own.id}.test`,
        `https://a.${own.id}.test:1`,
        `https://.${own.id}.test`,
      ]
    ) {
      expectError(await own.admin.put(path, { origins: [refused] }), 400, 'policy_violation');
    }
    expectOk(await own.admin.put(path, { origins: [page] }));
    expectOk(await own.master.delete('/api/system/policies/cors.origins'));
  });
});
