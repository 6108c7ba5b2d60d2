// A server that knows its names: requests for others, and pages of its own as browsers and proxies spell them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Hosts } from '../../../api/http/hosts/hosts.ts';
import { isOwnOrigin } from '../../../api/http/hosts/origins.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { setUp } from '../../harness/set-up.ts';
import { startServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  const http = {
    hosts: ['api.example.com', 'other.example:9000', '[::1]', '127.0.0.1'],
    keep_alive_ms: 20_000,
  };
  server = await startServer({ config: { http } });
  await setUp(server.url);
});
afterAll(() => server.stop());

/** The status for a request with this `Host`, and more headers. */
async function ask(host: string, { method = 'GET', path = '/_/auth/jwks.json', headers = '' } = {}) {
  const bytes = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`;
  return await sendRaw(server.url, bytes);
}

describe('http.hosts', () => {
  it.each(['api.example.com', 'API.Example.com', 'api.example.com:8080', 'other.example:9000', '[::1]:80'])(
    'serves requests for %s',
    async (host) => expect((await ask(host)).status).toBe(200),
  );

  it.each([
    'rebound.example',
    'localhost',
    'other.example',
    'other.example:90',
    'x.api.example.com',
    '127.0.0.2',
  ])(
    'finding-N4: a name that was rebound to the address of the server reaches nothing (%s)',
    async (host) => {
      const { status, body } = await ask(host);
      expect([status, JSON.parse(body)]).toEqual([400, {
        code: 'validation',
        message: 'Host: is none of the names of this server (http.hosts)',
      }]);
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
      const path = '/api/workspaces/acme/apps/shop/realtime';
      const opened = await sendRaw(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`);
      expect([opened.status, JSON.parse(opened.body).message]).toEqual([
        400,
        expect.stringContaining('Host'),
      ]);
    },
  );

  it('answers health checks for every name', async () => {
    for (const path of ['/healthz', '/readyz', '/healthz?x']) {
      expect([path, (await ask('10.0.0.7:8080', { path })).status]).toEqual([path, 200]);
    }
    expect((await ask('10.0.0.7:8080', { path: '/healthz/..' })).status).toBe(400);
  });

  it('remembers no name for the next request on another path', async () => {
    const [health, other] = ['/healthz', '/_/auth/jwks.json'].map((path) =>
      `GET ${path} HTTP/1.1\r\nHost: rebound.example\r\n\r\n`
    );
    const { text } = await sendRaw(server.url, `${health}${other}`);
    expect(text).toMatch(/^HTTP\/1.1 200 OK[^]*HTTP\/1.1 400 [^]*http.hosts/);
  });

  it('refuses a request without any name', async () => {
    expect((await sendRaw(server.url, 'GET /_/auth/jwks.json HTTP/1.0\r\n\r\n')).status).toBe(400);
  });

  it('knows every name when it lists none', () => {
    expect(new Hosts({ hosts: [], app_domain: '' }).meaningOf('rebound.example')).toBe('server');
  });
});

describe('an Origin', () => {
  const refresh = async (host: string, origin: string) =>
    (await ask(host, { method: 'POST', path: '/_/auth/refresh', headers: `Origin: ${origin}\r\n` })).status;

  it.each([
    ['api.example.com', 'https://API.example.com'],
    ['API.Example.COM', 'https://api.example.com'],
    ['api.example.com:443', 'https://api.example.com'],
    ['api.example.com:80', 'http://api.example.com'],
    ['api.example.com', 'https://api.example.com:443'],
  ])('is that of its own host: %s, %s', async (host, origin) => {
    // Another error: there is no token.
    expect(await refresh(host, origin)).not.toBe(403);
    expect(isOwnOrigin(origin, host)).toBe(true);
  });

  it.each([
    ['api.example.com:80', 'https://api.example.com'],
    ['api.example.com:8080', 'https://api.example.com'],
    ['api.example.com', 'https://evil.example'],
    ['api.example.com', 'https://api.example.com.evil.example'],
    ['api.example.com', 'ftp://api.example.com'],
    ['api.example.com', 'null'],
  ])('is not that of its own host: %s, %s', async (host, origin) => {
    expect(await refresh(host, origin)).toBe(403);
    expect(isOwnOrigin(origin, host)).toBe(false);
  });
});

describe('http.keep_alive_ms', () => {
  it('says how long an idle connection stays open', async () => {
    const { headers } = await sendRaw(server.url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', '}');
    expect(headers.get('Keep-Alive')).toBe('timeout=20');
  });
});
