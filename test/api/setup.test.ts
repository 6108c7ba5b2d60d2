// The first-run setup, on a server of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, send } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let nobody: Caller;
let token: string;
beforeAll(async () => {
  server = await startServer({ config: { rate_limit: { per_second: 100_000, burst: 100_000 } } });
  nobody = as(undefined, server.url);
});
afterAll(() => server.stop());

describe('setup.race: before the setup', () => {
  it('only three routes work, and no login is possible', async () => {
    const refused = [
      nobody.post('/_/auth/admin/login', { username: 'admin', password: '' }),
      nobody.post('/_/auth/refresh', {}),
      nobody.get('/.well-known/jwks.json'),
      nobody.get('/api/workspaces'),
      nobody.get('/nope'),
    ];
    for (const response of await Promise.all(refused)) {
      expect([response.status, response.body.code]).toEqual([503, 'uninitialized']);
    }
    expect((await nobody.get('/healthz')).body).toEqual({ initialized: false });
    expect((await nobody.get('/readyz')).status).toBe(200);
  });

  it.each([
    [{ password: 'seven77' }, 400, 'validation'],
    [{ password: 'x'.repeat(257) }, 400, 'validation'],
    [{ password: '' }, 400, 'validation'],
    [{ password: null }, 400, 'validation'],
    [{ password: ['a password', 'as a list'] }, 400, 'validation'],
    [{ password: 'long enough', username: 'root' }, 400, 'validation'],
    [{}, 400, 'validation'],
    ['', 422, 'deserialization'],
    ['"a password"', 422, 'deserialization'],
  ])('refuses %j and stays open', async (body, status, code) => {
    const response = await nobody.post('/_/setup', body);
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect((await nobody.get('/healthz')).body).toEqual({ initialized: false });
  });
});

describe('setup.race', () => {
  it('lets one of 50 requests at once set the password, and gives the others 409', async () => {
    const responses = await Promise.all(
      Array.from(
        { length: 50 },
        (_, index) => nobody.post('/_/setup', { password: `the password ${index}` }),
      ),
    );
    const won = responses.flatMap(({ status }, index) => status === 201 ? [index] : []);
    expect(won).toHaveLength(1);
    expect(responses[won[0] ?? 0]?.body).toEqual({ initialized: true });
    const lost = responses.filter(({ status }) => status !== 201);
    expect(lost.map(({ status, body }) => [status, body.code])).toEqual(Array(49).fill([409, 'conflict']));
    const login = (index: number) =>
      nobody.post('/_/auth/admin/login', { username: 'admin', password: `the password ${index}` });
    token = expectOk(await login(won[0] ?? 0)).access_token;
    expect((await login(won[0] === 0 ? 1 : 0)).status).toBe(401);
  });

  it('opens the server, is audited once and cannot be done again', async () => {
    expect((await nobody.get('/healthz')).body).toEqual({ initialized: true });
    expect((await nobody.post('/_/setup', { password: 'another password' })).status).toBe(409);
    const { items } = expectOk(await as(token, server.url).get('/api/system/audit?action=setup'));
    expect(items).toMatchObject([{ action: 'setup', actor: 'admin' }]);
  });

  it('refuses a body of another type before and after', async () => {
    const response = await send(`${server.url}/_/setup`, {
      method: 'POST',
      body: 'password=a+long+password',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([response.status, response.body.code]).toEqual([422, 'deserialization']);
  });
});
