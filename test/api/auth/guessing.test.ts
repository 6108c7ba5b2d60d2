// Guesses at a name from many networks, while its owner signs in: failures count by name and client.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk, send } from '../../harness/api.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { setUp } from '../../harness/set-up.ts';
import { unlimited } from '../../harness/storefront.ts';

let server: TestServer;
/** The cookie of a client that has signed in. */
let known: string;
const password = '1 password of the master';

beforeAll(async () => {
  server = await startServer({
    config: { ...unlimited, 'http.trust_proxy': true, 'http.cookie_secure': false },
  });
  await setUp(server.url);
});
afterAll(() => server.stop());

/** A login of the master from an address, as a proxy passes it on. */
function login(from: string, secret: string, cookie?: string): Promise<ApiResponse> {
  return send(`${server.url}/_/auth/admin/login`, {
    method: 'POST',
    body: { username: 'admin', password: secret },
    headers: { 'X-Forwarded-For': from, ...cookie === undefined ? {} : { Cookie: cookie } },
  });
}

async function guess(from: string, times: number): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < times; n++) seen.push((await login(from, 'a guess')).status);
  return seen;
}

function knownClient(response: ApiResponse): string {
  const cookie = response.headers.getSetCookie().find((each) => each.startsWith('svc_kc='));
  expect(cookie).toMatch(/; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Strict; Priority=High$/);
  return cookie?.split(';')[0] ?? expect.fail('no cookie of a known client');
}

describe('auth.guessing: a name', () => {
  it('that a network has guessed at is locked for that network, and for no other', async () => {
    expect(await guess('198.51.100.1', 6)).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await login('198.51.100.1', password)).status).toBe(429);
    expectOk(await login('203.0.113.1', password));
  });

  it('that many networks have guessed at is locked for strangers, and not for a client that has signed in', async () => {
    known = knownClient(await login('203.0.113.2', password));
    const seen: number[] = [];
    for (let n = 10; n < 22; n++) seen.push(...await guess(`198.51.100.${n}`, 5));
    expect(seen.filter((status) => status === 401).length).toBeLessThanOrEqual(50);
    expect(seen.at(-1)).toBe(429);
    expect((await login('192.0.2.1', password)).status).toBe(429);
    expectOk(await login('192.0.2.2', password, known));
    expect((await login('192.0.2.3', password, `${known}x`)).status).toBe(429);
    expect((await login('192.0.2.4', password, 'svc_kc=a.b')).status).toBe(429);
  });

  it('that is locked for strangers is open on the machine of the server, for five guesses', async () => {
    expect((await login('192.0.2.1', password)).status).toBe(429);
    expectOk(await login('127.0.0.1', password));
    const seen: number[] = [];
    for (const from of ['127.0.0.2', '::1', '127.1.2.3', '::ffff:127.0.0.9', '127.0.0.1', '127.9.9.9']) {
      seen.push(...await guess(from, 1));
    }
    expect(seen).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('may be guessed at five times by a client that has signed in, too', async () => {
    const cookie = knownClient(await login('192.0.2.2', password, known));
    const seen: number[] = [];
    for (let n = 0; n < 6; n++) seen.push((await login('203.0.113.9', 'a guess', cookie)).status);
    expect(seen).toEqual([401, 401, 401, 401, 401, 429]);
  });
});
