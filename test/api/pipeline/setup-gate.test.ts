// Before setup, under the rate limit, from other origins: on a server of its own, where each test has its own address.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { additions, type Endpoint, specified } from '../../contract/endpoints.ts';
import { type ApiResponse, send } from '../../harness/api.ts';
import { expectError, expectStandingHeaders } from '../../harness/expectations.ts';
import { startServer, type TestServer } from '../../harness/server.ts';

const burst = 30;
const allowed = 'https://app.example';

let server: TestServer;
let last = 0;

beforeAll(async () => {
  server = await startServer({
    config: {
      http: { trust_proxy: true },
      rate_limit: { per_second: 0.01, burst },
      cors: { allowed_origins: [allowed] },
    },
  });
});

afterAll(() => server.stop());

/** An address that no other test has used. */
function newAddress(): string {
  last++;
  return `10.0.${last >> 8}.${last & 255}`;
}

function from(
  address: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return send(server.url + path, { method, headers: { 'X-Forwarded-For': address, ...headers } });
}

async function exhaust(address: string): Promise<void> {
  for (let count = 0; count < burst; count++) await from(address, 'GET', '/readyz');
}

function isOpen({ path }: Endpoint): boolean {
  return ['/healthz', '/readyz', '/_/setup'].includes(path);
}

describe('before setup', () => {
  it.each([...specified, ...additions].filter((endpoint) => !isOpen(endpoint)))(
    '$method $path responds with 503 uninitialized',
    async ({ method, path }) => {
      const response = await from(newAddress(), method, path.replaceAll(/:[a-z]+/g, 'x'));
      expectError(response, 503, 'uninitialized');
    },
  );

  it.each([['an unknown route', 'GET', '/nope'], ['a wrong method', 'DELETE', '/api/workspaces']])(
    'responds with 503 for %s: whether it exists is not said',
    async (_what, method, path) => {
      expectError(await from(newAddress(), method, path), 503, 'uninitialized');
    },
  );

  it('says in /healthz that it is alive and not initialized', async () => {
    const response = await from(newAddress(), 'GET', '/healthz');
    expect(response).toMatchObject({ status: 200, body: { initialized: false } });
    expectStandingHeaders(response.headers);
  });

  it('says in /readyz that the database responds', async () => {
    expect(await from(newAddress(), 'GET', '/readyz')).toMatchObject({ status: 200, body: { ready: true } });
  });

  it('refuses a body of /_/setup that is none', async () => {
    expectError(await from(newAddress(), 'POST', '/_/setup'), 422, 'deserialization');
  });

  it('responds with 503 before it looks at the token or the length of the body', async () => {
    const response = await send(`${server.url}/api/workspaces`, {
      method: 'POST',
      body: 'x',
      headers: { 'X-Forwarded-For': newAddress(), Authorization: 'Bearer nonsense' },
    });
    expectError(response, 503, 'uninitialized');
  });
});

describe('the rate limit through HTTP', () => {
  it('responds with 429 with Retry-After once the burst is used up', async () => {
    const address = newAddress();
    await exhaust(address);
    const response = await from(address, 'GET', '/readyz');
    expectError(response, 429, 'too_many_requests');
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  });

  it('comes before everything else, also before the setup gate, 404 and preflights', async () => {
    const address = newAddress();
    await exhaust(address);
    expectError(await from(address, 'GET', '/nope'), 429, 'too_many_requests');
    expectError(await from(address, 'DELETE', '/api/workspaces'), 429, 'too_many_requests');
    const preflight = { Origin: allowed, 'Access-Control-Request-Method': 'GET' };
    expectError(await from(address, 'OPTIONS', '/api/workspaces', preflight), 429, 'too_many_requests');
  });

  it('exempts /healthz', async () => {
    const address = newAddress();
    await exhaust(address);
    for (let count = 0; count < burst * 2; count++) {
      expect((await from(address, 'GET', '/healthz')).status).toBe(200);
    }
  });

  it('auth.ip-key: gives the addresses of an IPv6 /64 one bucket', async () => {
    await exhaust('2001:db8:5:6::1');
    expectError(await from('2001:db8:5:6:ffff::2', 'GET', '/readyz'), 429, 'too_many_requests');
    expect((await from('2001:db8:5:7::1', 'GET', '/readyz')).status).toBe(200);
  });

  it('auth.ip-key: gives an address one bucket however the proxy writes it, with the port or as IPv6', async () => {
    const address = newAddress();
    await exhaust(address);
    for (
      const text of [`::ffff:${address}`, `::FFFF:${address}`, `${address}:4711`, `[::ffff:${address}]:4712`]
    ) {
      expectError(await from(text, 'GET', '/readyz'), 429, 'too_many_requests');
    }
    await exhaust('2001:db8:7:8::1');
    for (const text of ['[2001:db8:7:8::1]:443', '[2001:DB8:7:8::2]', '2001:0db8:7:8::3']) {
      expectError(await from(text, 'GET', '/readyz'), 429, 'too_many_requests');
    }
  });

  it('auth.ip-key: believes the last entry of X-Forwarded-For only, which the proxy wrote', async () => {
    const address = newAddress();
    await exhaust(address);
    expectError(await from(`${newAddress()}, ${address}`, 'GET', '/readyz'), 429, 'too_many_requests');
    expect((await from(`${address}, ${newAddress()}`, 'GET', '/readyz')).status).toBe(200);
  });
});

describe('auth.ip-key: without trust_proxy', () => {
  let bare: TestServer;
  beforeAll(async () => {
    bare = await startServer({ config: { rate_limit: { per_second: 0.01, burst } } });
  });
  afterAll(() => bare.stop());

  it('no header changes the address', async () => {
    for (let count = 0; count < burst; count++) await send(`${bare.url}/readyz`, { method: 'GET' });
    const forged = ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP'];
    for (const name of forged) {
      const value = name === 'Forwarded' ? 'for=10.9.9.9' : '10.9.9.9';
      const response = await send(`${bare.url}/readyz`, { method: 'GET', headers: { [name]: value } });
      expectError(response, 429, 'too_many_requests');
    }
  });
});

describe('cookie.csrf: other origins', () => {
  it('gives an allowed origin its own name back, and no credentials', async () => {
    const response = await from(newAddress(), 'GET', '/healthz', { Origin: allowed });
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(allowed);
    expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull();
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id');
    expect(response.headers.get('Vary')).toContain('Origin');
  });

  it('gives errors the same headers, so that a page can read them', async () => {
    const response = await from(newAddress(), 'GET', '/api/workspaces', { Origin: allowed });
    expectError(response, 503, 'uninitialized');
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(allowed);
  });

  it.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example.evil.example',
    'https://app.example:8443',
    'null',
  ])(
    'gives %s nothing',
    async (origin) => {
      const response = await from(newAddress(), 'GET', '/healthz', { Origin: origin });
      expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull();
      expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull();
      expect(response.headers.get('Vary')).toContain('Origin');
    },
  );

  it('responds to a preflight of an allowed origin, also before setup', async () => {
    const asked = 'authorization,content-type,x-own';
    const headers = {
      Origin: allowed,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': asked,
    };
    const response = await from(newAddress(), 'OPTIONS', '/api/workspaces/x', headers);
    expect(response.status).toBe(204);
    expect(response.text).toBe('');
    expectStandingHeaders(response.headers);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(allowed);
    expect(response.headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
    expect(response.headers.get('Access-Control-Allow-Headers')).toBe(asked);
  });

  it('responds to a preflight of any other origin as to any request, without CORS headers', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'PATCH' };
    const response = await from(newAddress(), 'OPTIONS', '/api/workspaces/x', headers);
    expectError(response, 503, 'uninitialized');
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull();
    expect(response.headers.get('Access-Control-Allow-Methods')).toBeNull();
  });
});

describe('a client that disconnects in the middle of its body', () => {
  it('is no failure of the server in the log', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const head = [
      'POST /_/setup HTTP/1.1',
      'Host: x',
      `X-Forwarded-For: ${newAddress()}`,
      'X-Request-Id: cut-off',
      'Content-Type: application/json',
      'Content-Length: 100',
      'Expect: 100-continue',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{"password":`);
    // The server says 100 when it has begun with the request.
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    expect(JSON.parse(await server.line('"request_id":"cut-off"'))).toMatchObject({
      type: 'request_done',
      status: 422,
    });
  });
});
