// A server whose proxy sets the security headers: on one of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { openStorefront } from '../../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/shop';

const names = [
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'Referrer-Policy',
  'X-Frame-Options',
  'Content-Security-Policy',
  'Permissions-Policy',
];

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { http: { security_headers: false } } });
});
afterAll(() => server.stop());

/** The security headers of a response, which are to be none, and that it has a request id. */
function standing(headers: Headers): { security: string[]; identified: boolean } {
  return { security: names.filter((name) => headers.has(name)), identified: headers.has('X-Request-Id') };
}

const none = { security: [], identified: true };

describe('http.security_headers = false', () => {
  it.each(['/healthz', '/nope', '/_/setup'])('leaves them out of the response to %s', async (path) => {
    expect(standing((await as(undefined, server.url).get(path)).headers)).toEqual(none);
  });

  it.each([
    ['that is not HTTP', 'hello\r\n\r\n'],
    ['without a Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['with an unknown expectation', 'POST /_/setup HTTP/1.1\r\nHost: x\r\nExpect: y\r\n\r\n'],
    ['to connect elsewhere', 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('leaves them out of the response to a request %s', async (_what, bytes) => {
    expect(standing((await sendRaw(server.url, bytes)).headers)).toEqual(none);
  });

  it('finding-5: keeps what hooks and files send from running on the origin all the same', async () => {
    const { master } = await openStorefront(server.url);
    const source = `
      const page = '<script>document.title = "STOLE"</script>';
      const html = { 'Content-Type': 'text/html', 'Content-Security-Policy': 'script-src *', 'X-Content-Type-Options': 'x' };
      routerAdd('GET', '/page', () => new Response(page, { headers: html }));
      routerAdd('GET', '/parts', () => new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode(page)); c.close(); } }), { headers: html }));
      routerAdd('GET', '/refused', () => { throw new HttpError(409, 'taken', page); });`;
    expectOk(await master.put(`${app}/hooks/page.js`, { source }));
    const type = { 'Content-Type': 'text/html' };
    const file = expectOk(await master.post(`${app}/files`, '<script>1</script>', type));
    const paths = ['custom/page', 'custom/parts', 'custom/refused', `files/${file.id}`];
    for (const path of paths) {
      const { headers } = await master.get(`${app}/${path}`);
      const policy = headers.get('Content-Security-Policy');
      expect([path, policy]).toEqual([path, "sandbox; default-src 'none'"]);
      expect([path, headers.get('X-Content-Type-Options')]).toEqual([path, 'nosniff']);
    }
  });

  it('has answers kept by no cache all the same', async () => {
    const kept = async (path: string) =>
      (await as(undefined, server.url).get(path)).headers.get('Cache-Control');
    for (const path of ['/healthz', '/_/openapi.json', '/nope', '/api/workspaces']) {
      expect([path, await kept(path)]).toEqual([path, 'no-store']);
    }
  });
});
