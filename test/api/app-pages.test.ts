// Where apps have origins of their own, the server's own host shows no page of theirs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { type HostedRequest, sendAtHost } from '../harness/at-host.ts';
import { expectError } from '../harness/expectations.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const shop = 'shop--acme.apps.example.com';
const path = '/api/workspaces/acme/apps/shop';
const source = `
const typed = (type) => new Response('<script>1</script>', { headers: { 'content-type': type, 'content-security-policy': 'x' } });
routerAdd('ANY', '/typed', (e) => typed(e.query.type));
routerAdd('GET', '/streamed', () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(9)) }),
  { headers: { 'content-type': 'text/html' } }));
routerAdd('GET', '/json', () => ({ ok: true }));
`;
let server: TestServer;
let master: Caller;

beforeAll(async () => {
  server = await startServer({ config: { http: { app_domain: 'apps.example.com' } } });
  master = await setUp(server.url);
  await makeShop(master);
  expectOk(await master.put(`${path}/hooks/site.ts`, { source }));
});
afterAll(() => server.stop());

const ask = (host: string, where: string, request?: HostedRequest) =>
  sendAtHost(server.url, host, where, request);

describe('the origin of the server', () => {
  const custom = `${path}/custom`;
  const typed = (type: string) => `/typed?type=${encodeURIComponent(type)}`;

  it('lets no hook loosen anything', async () => {
    const { status, headers } = await ask('api.example.com', `${custom}${typed('text/plain')}`);
    expect([status, headers.get('content-security-policy')]).toEqual([200, "sandbox; default-src 'none'"]);
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  it.each([
    'text/html; charset=utf-8',
    'IMAGE/SVG+XML',
    'application/xhtml+xml',
    'text/xml',
    'text/plain, text/html',
    'text/javascript',
  ])(
    'sends a browser to the origin of the app for %s',
    async (type) => {
      const { status, headers, text } = await ask('api.example.com:8443', `${custom}${typed(type)}`);
      expect([status, text]).toEqual([308, '']);
      expect(headers.get('location')).toBe(`//${shop}:8443${typed(type)}`);
      expect((await ask(shop, typed(type))).status).toBe(200);
    },
  );

  it('does so for a page that is streamed, and one under a path that is encoded', async () => {
    for (const where of ['/streamed', '/streamed?x=/custom/', '//streamed']) {
      const encoded = path.replace('acme', '%61cme');
      const { headers, text } = await ask('api.example.com', `${encoded}/custom${where}`);
      expect([headers.get('location'), text]).toEqual([`//${shop}${where}`, '']);
    }
  });

  it('refuses a page that answers a POST, or whose app has no origin', async () => {
    const refused = await ask('api.example.com', `${custom}${typed('text/html')}`, {
      method: 'POST',
      body: {},
    });
    expectError(refused, 403, 'forbidden');
    expect(refused.body.message).toContain(shop);
    const app = '/api/workspaces/acme/apps/two--names';
    expectOk(await master.post('/api/workspaces/acme/apps', { id: 'two--names', name: 'Two' }));
    expectOk(await master.put(`${app}/hooks/site.ts`, { source }));
    expectError(await ask('api.example.com', `${app}/custom${typed('text/html')}`), 403, 'forbidden');
    expect((await ask('api.example.com', `${app}/custom/json`)).body).toEqual({ ok: true });
  });

  it('gives files that a browser could run no type', async () => {
    const headers = {
      Authorization: `Bearer ${master.token}`,
      'Content-Type': 'text/html',
      'X-Filename': 'a.html',
    };
    const { id } = expectOk(
      await ask('api.example.com', `${path}/files`, { method: 'POST', headers, body: {} }),
    );
    const { Authorization } = headers;
    for (
      const [host, type] of [['api.example.com', 'application/octet-stream'], [shop, 'text/html']] as const
    ) {
      const file = await ask(host, `${path}/files/${id}`, { headers: { Authorization } });
      expect([file.status, file.headers.get('content-type')]).toEqual([200, type]);
      expect(file.headers.get('content-disposition')).toContain('attachment');
    }
  });
});
