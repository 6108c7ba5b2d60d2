// Opening a WebSocket to the real server, and how it refuses one.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, master, serverUrl } from '../../harness/api.ts';
import { expectStandingHeaders } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { handshake } from './socket-client.ts';

const port = Number(new URL(serverUrl()).port);

let app: Scenario;
let path: string;

beforeAll(async () => {
  app = await scenario();
  path = app.collections.replace(/\/collections$/, '/realtime');
});

/** A handshake as bytes. */
const asking = (more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

describe('a handshake', () => {
  it('behind a response that is not complete is refused in its turn, and mixes with nothing', async () => {
    const records = await app.define('orders', [{ name: 'title', kind: 'text' }], { list: 'any' });
    const list = `GET ${records} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const { text } = await sendRaw(serverUrl(), list + asking(), '"code"');
    expect(text).toMatch(/^HTTP\/1.1 200 OK[^]*"next_cursor":null}HTTP\/1.1 400 [^]*"code":"validation"/);
  });

  it.each([['Host: y'], ['Content-Length: 5'], ['Transfer-Encoding: chunked']])(
    'with %s is refused',
    async (line) => {
      const { status, text } = await sendRaw(serverUrl(), asking(`${line}\r\n`), '"code"');
      expect([status, text]).toEqual([400, expect.stringContaining('"code":"validation"')]);
    },
  );

  it.each([['a,a'], ['two words'], ['']])('may name any protocols: "%s"', async (names) => {
    const asked = asking(`Sec-WebSocket-Protocol: ${names}\r\n`);
    expect((await sendRaw(serverUrl(), asked, '\r\n\r\n')).status).toBe(101);
  });

  it('that succeeds is answered with the headers that every response has', async () => {
    const { status, headers } = await handshake(port, { at: path, headers: { 'X-Request-Id': 'opening-1' } });
    expect(status).toBe(101);
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    expectStandingHeaders(new Headers(given));
    expect(headers['x-request-id']).toBe('opening-1');
  });
});

describe('the path of WebSockets', () => {
  it('answers a request that asks for none', async () => {
    const response = await as().get(path);
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.message).toContain('Upgrade');
  });

  it('may end in a slash, have a query, be a whole address or percent-encoded, as others may', async () => {
    const encoded = path.replace(/apps\/./, (text) => `apps/%${text.charCodeAt(5).toString(16)}`);
    for (const at of [`${path}/`, `${path}/?a=b`, `http://127.0.0.1:${port}${path}`, `${encoded}?a=%`]) {
      expect([at, (await handshake(port, { at })).status]).toEqual([at, 101]);
    }
    const broken = await handshake(port, { at: path.replace(/apps\/./, 'apps/%zz') });
    expect([broken.status, JSON.parse(broken.body).code]).toEqual([404, 'not_found']);
  });

  it('refuses an upgrade as it would a request, with the headers of every response', async () => {
    const bad = await handshake(port, { at: path, headers: { Authorization: 'Bearer nonsense' } });
    expect([bad.status, JSON.parse(bad.body).code]).toEqual([401, 'unauthorized']);
    expect(bad.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    const ghost = `${app.workspace.path}/apps/ghost/realtime`;
    const root = await master();
    const missing = await handshake(port, { at: ghost, headers: { Authorization: `Bearer ${root.token}` } });
    expect([missing.status, JSON.parse(missing.body).code]).toEqual([404, 'app_not_found']);
  });

  it('takes a cookie away that is no good, from pages of its own alone', async () => {
    const origin = `http://127.0.0.1:${port}`;
    const refused = (headers: Record<string, string>) => handshake(port, { at: path, headers });
    const bad = await refused({ Cookie: 'svc_at=nonsense', Origin: origin });
    expect(bad.status).toBe(401);
    expect(bad.headers['set-cookie']).toEqual([
      'svc_at=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Priority=High',
    ]);
    for (
      const headers of [
        { Cookie: 'svc_at=nonsense', Origin: 'https://evil.example' },
        { Cookie: 'svc_at=nonsense', Origin: origin, Authorization: 'Bearer nonsense' },
      ]
    ) {
      expect((await refused(headers)).headers).not.toHaveProperty('set-cookie');
    }
  });
});
