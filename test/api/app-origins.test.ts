// The origin of an app, as its pages and their neighbours see it: its own API and routes, its own cookies, nobody else's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { type HostedRequest, sendAtHost } from '../harness/at-host.ts';
import { expectError } from '../harness/expectations.ts';
import { sendRaw } from '../harness/raw-requests.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const shop = 'shop--acme.apps.example.com';
const local = 'shop--acme.localhost:8080';
const path = '/api/workspaces/acme/apps/shop';
const password = 'a password of a user';
const source = `
routerAdd('GET', '/', () => new Response('the root'));
routerAdd('GET', '/hello/:name', (e) => ({ name: e.params.name, url: e.request.url, q: e.query }));
routerAdd('POST', '/who', (e) => ({ id: e.auth?.id ?? null, app: e.auth?.app ?? null }));
routerAdd('GET', '/page', () => new Response('<script>1</script>', { headers: { 'content-type': 'text/html' } }));
routerAdd('GET', '/open', () => new Response('<script>1</script>', { headers: {
  'content-type': 'text/html',
  'content-security-policy': "default-src 'self'",
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'none',
  'clear-site-data': '"cookies"',
} }));
routerAdd('GET', '/cookies', () => {
  const headers = new Headers();
  for (const cookie of ['a=1', 'b=2; Path=/x; Domain=apps.example.com', '__Host-svc_at=x; Secure; Path=/', 'svc_rt=x']) {
    headers.append('set-cookie', cookie);
  }
  return new Response('', { headers });
});
routerAdd('GET', '/api/mine', () => 'never reached');
`;
let server: TestServer;
let master: Caller;

beforeAll(async () => {
  const hosts = ['api.example.com', '127.0.0.1', 'localhost'];
  server = await startServer({ config: { http: { hosts, app_domain: 'apps.example.com' } } });
  master = await setUp(server.url);
  await makeShop(master);
  expectOk(await master.post('/api/workspaces/acme/apps', { id: 'blog', name: 'Blog' }));
  const put = expectOk(await master.put(`${path}/hooks/site.ts`, { source }));
  expect(put).not.toHaveProperty('errors');
});
afterAll(() => server.stop());

const ask = (host: string, where: string, request?: HostedRequest) =>
  sendAtHost(server.url, host, where, request);

/** Registers a user and logs it in at a host; the cookies as a browser would send them back, and the lines that set them. */
async function signIn(host: string, email: string) {
  const body = { email, password };
  const users = '/api/workspaces/acme/auth/users';
  expectOk(await ask(host, `${users}/register`, { method: 'POST', body }));
  const session = await ask(host, `${users}/login`, { method: 'POST', body: { ...body, app: 'blog' } });
  const lines = session.headers.getSetCookie();
  return { lines, cookie: lines.map((line) => line.split(';')[0]).join('; '), session: expectOk(session) };
}

describe.each([shop, local])('custom routes at %s', (host) => {
  it('are there without their prefix', async () => {
    expect((await ask(host, '/')).text).toBe('the root');
    const { body } = await ask(host, '/hello/a%2Fb?x=1');
    expect(body).toEqual({ name: 'a/b', url: `http://${host}/hello/a%2Fb?x=1`, q: { x: '1' } });
    expect((await ask(host, '/none')).status).toBe(404);
    expect((await ask(host, '/hello/../')).status).toBe(404);
    expect((await ask(host, `${path}/custom/hello/b`)).body).toMatchObject({ name: 'b' });
  });

  it('leave the paths of the server to the server', async () => {
    expectError(await ask(host, '/api/mine'), 404, 'not_found');
    expect(await ask(host, '/healthz')).toMatchObject({ status: 200 });
    expect((await ask(host, `${path}/custom/api/mine`)).text).toContain('never reached');
  });

  it('are sandboxed, unless the hook says what its page may do', async () => {
    const page = await ask(host, '/page');
    expect(page.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    const open = await ask(host, '/open');
    expect(open.headers.get('content-security-policy')).toBe("default-src 'self'");
    expect(open.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(open.headers.get('x-content-type-options')).toBe('nosniff');
    expect(open.headers.get('clear-site-data')).toBe(null);
  });

  it('set cookies for this origin alone, and none of the server', async () => {
    const { headers } = await ask(host, '/cookies');
    expect(headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2; Path=/x']);
  });
});

describe('the origin of the server', () => {
  it('has no custom routes without their prefix', async () => {
    expectError(await ask('api.example.com', '/hello/x'), 404, 'not_found');
  });
});

describe('the API at the origin of an app', () => {
  it("is that of the app: other tenants and operators' routes are not there", async () => {
    const headers = { Authorization: `Bearer ${master.token}` };
    expectOk(await ask(shop, `${path}/collections`, { headers }));
    const elsewhere = [
      '/api/workspaces',
      '/api/workspaces/acme',
      '/api/workspaces/acme/apps',
      '/api/workspaces/acme/apps/shop',
      '/api/workspaces/acme/apps/blog/collections',
      '/api/workspaces/other/apps/shop/collections',
      '/api/workspaces/acme/admins',
      '/api/workspaces/acme/users',
      '/api/workspaces/acme/auth/oauth/providers',
      '/api/workspaces/other/auth/me',
      '/api/system/policies',
      '/_/openapi.json',
    ];
    for (const where of elsewhere) expectError(await ask(shop, where, { headers }), 404, 'not_found');
    const logins = [
      '/_/auth/admin/login',
      '/api/workspaces/acme/auth/admin/login',
      '/api/workspaces/acme/auth/refresh',
    ];
    for (const where of logins) {
      expectError(await ask(shop, where, { method: 'POST', body: {} }), 404, 'not_found');
    }
  });

  it.each(['x--acme', 'a--b--c', 'shop', 'shop--other'])(
    'is nowhere for a name of no app (%s)',
    async (label) => {
      for (const where of ['/', '/hello/x', `${path}/collections`, '/_/auth/jwks.json']) {
        expect((await ask(`${label}.apps.example.com`, where)).status).toBe(404);
      }
    },
  );

  it('is not there under the name of the domain itself, nor for a request that names two hosts', async () => {
    expect((await ask('apps.example.com', '/_/auth/jwks.json')).status).toBe(404);
    for (const [line, host] of [['api.example.com', shop], [shop, 'api.example.com']]) {
      const both = `GET http://${line}/_/auth/jwks.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
      expect((await sendRaw(server.url, both)).status).toBe(400);
    }
    const whole = `GET http://${shop}/hello/x HTTP/1.1\r\nHost: ${shop}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(server.url, whole)).toMatchObject({ status: 200 });
  });

  it('does not believe a header about its name', async () => {
    const headers = { 'X-Forwarded-Host': shop, Forwarded: `host=${shop}` };
    expect((await ask('api.example.com', '/hello/x', { headers })).status).toBe(404);
  });
});

describe('cookies at the origin of an app', () => {
  it('are of its own, and count for requests of its own pages', async () => {
    const { cookie, lines, session } = await signIn(shop, 'ann@example.com');
    expect(lines.map((line) => line.replace(/=[^;]*/, ''))).toEqual([
      expect.stringMatching(/^__Host-svc_at; Path=\/; .*Secure$/),
      expect.stringMatching(/^__Host-svc_rt; Path=\/; .*Secure$/),
      expect.stringMatching(/^__Host-svc_kc; Path=\/; .*Secure$/),
    ]);
    const who = (origin: string) =>
      ask(shop, '/who', { method: 'POST', headers: { Cookie: cookie, Origin: origin }, body: {} });
    // Whatever app the login named.
    expect((await who(`https://${shop}`)).body).toEqual({ id: session.user.id, app: 'shop' });
    for (const origin of ['https://evil--acme.apps.example.com', 'https://api.example.com', 'null']) {
      expectError(await who(origin), 403, 'forbidden');
    }
    const headers = { Cookie: cookie, Origin: `https://${shop}` };
    const refreshed = await ask(shop, '/_/auth/refresh', { method: 'POST', headers });
    expect(expectOk(refreshed).user.id).toBe(session.user.id);
    const out = await ask(shop, '/_/auth/logout', { method: 'POST', headers });
    expect(out.headers.getSetCookie().join()).toMatch(/__Host-svc_at=; .*__Host-svc_rt=; Path=\/;/);
  });

  it('that another page could have planted do not count', async () => {
    const { session } = await signIn(shop, 'bob@example.com');
    const headers = { Cookie: `svc_at=${session.access_token}`, Origin: `https://${shop}` };
    expect((await ask(shop, '/who', { method: 'POST', headers, body: {} })).body).toEqual({
      id: null,
      app: null,
    });
  });

  it('are never those of an admin', async () => {
    const login = { username: 'admin', password: '1 password of the master' };
    const session = expectOk(
      await ask('api.example.com', '/_/auth/admin/login', { method: 'POST', body: login }),
    );
    const body = { refresh_token: session.refresh_token };
    expectError(await ask(shop, '/_/auth/refresh', { method: 'POST', body }), 401, 'unauthorized');
  });

  it('open WebSockets of the app, and of no other', async () => {
    const { cookie } = await signIn(shop, 'cas@example.com');
    const open = (app: string, origin: string) => {
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: ${cookie}\r\nOrigin: ${origin}\r\n`;
      const where = `/api/workspaces/acme/apps/${app}/realtime`;
      return sendRaw(server.url, `GET ${where} HTTP/1.1\r\nHost: ${shop}\r\n${upgrade}\r\n`, '\r\n\r\n');
    };
    expect((await open('shop', `https://${shop}`)).status).toBe(101);
    expect((await open('shop', 'https://evil--acme.apps.example.com')).status).toBe(403);
    expect((await open('blog', `https://${shop}`)).status).toBe(404);
  });

  it('have their usual names below localhost, where no page can plant one', async () => {
    const { lines } = await signIn(local, 'dan@example.com');
    expect(lines.map((line) => line.replace(/=[^;]*/, ''))).toEqual([
      expect.stringMatching(/^svc_at; Path=\/;/),
      expect.stringMatching(/^svc_rt; Path=\/_\/auth;/),
      expect.stringMatching(/^svc_kc; Path=\/;/),
    ]);
  });
});
