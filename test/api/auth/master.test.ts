// What concerns the one master account, and what outlives a restart: on a server of its own.
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { masterSubject } from '../../../api/auth/login/login-master.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { lockSubject } from '../../../storage/lockouts.ts';
import { type ApiResponse, as, type Caller, expectOk } from '../../harness/api.ts';
import { endpointOf } from '../../harness/database.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { howManyWait, responseMeanwhile } from '../../harness/waiting.ts';
import { claimsOf, cookiesOf, headerOf } from '../../harness/tokens.ts';

const legacySecret = 'the secret of a 0.1 release, 32 bytes or more';
const settings = {
  rate_limit: { per_second: 100_000, burst: 100_000 },
  auth: { legacy_hs256_secret: legacySecret },
  http: { cookie_prefix: 'acme', cookie_secure: true },
};
const passwords = { first: 'the first password', second: 'the second password' };
let server: TestServer;
let dataDir: string;

beforeAll(async () => {
  server = await startServer({ config: settings, keep: true });
  dataDir = server.dataDir;
  expectOk(await as(undefined, server.url).post('/_/setup', { password: passwords.first }));
});
afterAll(async () => {
  await server.stop();
  await rm(dirname(dataDir), { recursive: true, force: true });
});

/** Stops the server as an operator would and starts it again on the same data. */
async function restart(): Promise<void> {
  await server.stop();
  server = await startServer({ config: settings, dataDir });
}

async function login(password: string): Promise<ApiResponse> {
  return await as(undefined, server.url).post('/_/auth/admin/login', { username: 'admin', password });
}

function bearer(token: string | undefined): Caller {
  return as(token, server.url);
}

const changePassword = (token: string, current_password: string, new_password: string) =>
  bearer(token).post('/_/auth/admin/password', { current_password, new_password });

async function refreshes(token: string): Promise<number> {
  return (await bearer(undefined).post('/_/auth/refresh', { refresh_token: token })).status;
}

const openControl = () =>
  new Pool(endpointOf(dataDir, 'bulkhead'), { cap: 1, permits: unlimitedPermits, now: Date.now });

async function legacyToken(
  options: { secret?: string; header?: object; claims?: object; expiresIn?: number } = {},
) {
  const { secret = legacySecret, header = {}, claims = {}, expiresIn = 600 } = options;
  const now = Math.floor(Date.now() / 1_000);
  const { admin } = expectOk(await login(passwords.first));
  const payload = {
    iss: 'bulkhead',
    sub: admin.id,
    role: 'master_admin',
    iat: now - 60,
    exp: now + expiresIn,
    ...claims,
  };
  return await new SignJWT(payload).setProtectedHeader({ alg: 'HS256', ...header }).sign(Buffer.from(secret));
}

describe('cookies', () => {
  it('are Secure and carry the prefix that is configured', async () => {
    const response = await login(passwords.first);
    expect(cookiesOf(response)).toEqual([
      `acme_at=${response.body.access_token}; Path=/; Max-Age=900; HttpOnly; SameSite=Strict; Priority=High; Secure`,
      `acme_rt=${response.body.refresh_token}; Path=/_/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Priority=High; Secure`,
    ]);
    const headers = { Cookie: `svc_at=${response.body.access_token}` };
    expect((await bearer(undefined).get('/api/workspaces', headers)).status).toBe(401);
  });
});

describe('jwt.legacy-hs256', () => {
  it('is accepted with the secret that is configured and without a kid', async () => {
    for (const header of [{}, { typ: 'JWT' }]) {
      expect((await bearer(await legacyToken({ header })).get('/api/workspaces')).status).toBe(200);
    }
  });

  it.each([
    ['another secret', { secret: 'another secret, also of 32 bytes or more' }],
    ['a kid', { header: { kid: 'x' } }],
    ['another type', { header: { typ: 'at+jwt' } }],
    ['HS512', { header: { alg: 'HS512' } }],
    ['another issuer', { claims: { iss: 'somebody' } }],
    ['a time to come (nbf)', { claims: { nbf: Math.floor(Date.now() / 1_000) + 300 } }],
    ['an audience', { claims: { aud: 'somebody' } }],
    ['an unknown role', { claims: { role: 'root' } }],
    ['no role', { claims: { role: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['a workspace admin without a workspace', { claims: { role: 'workspace_admin' } }],
    ['an app admin without apps', { claims: { role: 'app_admin', workspace: 'acme' } }],
    ['a workspace admin bound to an app', {
      claims: { role: 'workspace_admin', workspace: 'acme', app: 'a' },
    }],
    ['a master with a workspace', { claims: { workspace: 'acme' } }],
    ['an expiry that has passed', { expiresIn: -1 }],
  ])('is refused with %s', async (_what, options) => {
    const response = await bearer(await legacyToken(options)).get('/api/workspaces');
    expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
  });

  it('that was revoked is refused however its signature is spelled', async () => {
    const token = await legacyToken();
    expect((await bearer(token).get('/api/workspaces')).status).toBe(200);
    expectOk(await bearer(token).post('/_/auth/logout'));
    // The last of 43 characters has two bits that no byte of the signature needs.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const twin = alphabet[alphabet.indexOf(token.slice(-1)) ^ 1];
    for (const spelling of [token, `${token}=`, `${token.slice(0, -1)}${twin}`]) {
      expect((await bearer(spelling).get('/api/workspaces')).status).toBe(401);
    }
  });

  it('never is what the server issues', async () => {
    expect(headerOf(expectOk(await login(passwords.first)).access_token).alg).toBe('RS256');
  });
});

describe('a restart', () => {
  it('keeps key, sessions and revocations', async () => {
    const [kept, ended] = [expectOk(await login(passwords.first)), expectOk(await login(passwords.first))];
    expectOk(await bearer(ended.access_token).post('/_/auth/logout'));
    await restart();
    const again = expectOk(await login(passwords.first));
    expect(headerOf(again.access_token).kid).toBe(headerOf(kept.access_token).kid);
    expect((await bearer(kept.access_token).get('/api/workspaces')).status).toBe(200);
    expect((await bearer(ended.access_token).get('/api/workspaces')).status).toBe(401);
    expect(await refreshes(ended.refresh_token)).toBe(401);
    expect(await refreshes(kept.refresh_token)).toBe(200);
  });
});

describe('session.revoke-all: the master’s own password', () => {
  it('is not changed by who does not know it, nor to one that is too short', async () => {
    const session = expectOk(await login(passwords.first));
    const wrong = await changePassword(session.access_token, 'not the password', passwords.second);
    expect([wrong.status, wrong.body.code]).toEqual([401, 'bad_credentials']);
    const short = await changePassword(session.access_token, passwords.first, 'short');
    expect([short.status, short.body.message]).toEqual([
      400,
      'new_password: must have at least 8 characters',
    ]);
    expect((await login(passwords.second)).status).toBe(401);
    expect((await login(passwords.first)).status).toBe(200);
  });

  it('leaves no session to a refresh token that is being exchanged', async () => {
    const { refresh_token } = expectOk(await login(passwords.first));
    const control = openControl();
    const response = await responseMeanwhile(
      control,
      (sql) => sql`select 1 from control.master_admins for update`,
      () => bearer(undefined).post('/_/auth/refresh', { refresh_token }),
      (sql) => sql`update control.sessions set revoked_at = now()`,
    ).finally(() => control.end());
    expect(response.status).toBe(401);
  });

  it('ends every other session and token when it changes', async () => {
    const legacy = await legacyToken();
    const own = expectOk(await login(passwords.first));
    const others = [expectOk(await login(passwords.first)), expectOk(await login(passwords.first))];
    // The token that asks need not be the newest of its login.
    const { refresh_token } = expectOk(
      await bearer(undefined).post('/_/auth/refresh', { refresh_token: own.refresh_token }),
    );
    expectOk(await changePassword(own.access_token, passwords.first, passwords.second));
    for (const token of [...others.map(({ access_token }) => access_token), legacy]) {
      expect((await bearer(token).get('/api/workspaces')).status).toBe(401);
    }
    for (const { refresh_token } of others) expect(await refreshes(refresh_token)).toBe(401);
    expect((await bearer(own.access_token).get('/api/workspaces')).status).toBe(200);
    expect(await refreshes(refresh_token)).toBe(200);
    expect((await login(passwords.first)).status).toBe(401);
    expect((await login(passwords.second)).status).toBe(200);
    const { items } = expectOk(
      await bearer(own.access_token).get('/api/system/audit?action=password_change'),
    );
    expect(items).toMatchObject([{ actor: 'admin', action: 'password_change' }]);
  });

  it('ends the session that a refresh token is exchanged for at that moment', async () => {
    const [own, other] = [expectOk(await login(passwords.second)), expectOk(await login(passwords.second))];
    const control = openControl();
    const { refreshing, changing } = await control.transaction(async (sql) => {
      // The exchange is held up in its midst, and then comes the change.
      await sql`select 1 from control.sessions for update`;
      const { refresh_token } = other;
      const refreshing = bearer(undefined).post('/_/auth/refresh', { refresh_token });
      while (await howManyWait(sql) < 1);
      const changing = changePassword(own.access_token, passwords.second, passwords.second);
      while (await howManyWait(sql) < 2);
      return { refreshing, changing };
    }).finally(() => control.end());
    expectOk(await changing);
    expect(await refreshes(expectOk(await refreshing).refresh_token)).toBe(401);
  });

  it('forgets failures when it is changed, as a login does', async () => {
    const { access_token } = expectOk(await login(passwords.second));
    const change = async (current: string) =>
      (await changePassword(access_token, current, passwords.second)).status;
    for (let count = 0; count < 4; count++) expect(await change('a guess')).toBe(401);
    expect(await change(passwords.second)).toBe(200);
    for (let count = 0; count < 2; count++) expect(await change('a guess')).toBe(401);
    expect((await login(passwords.second)).status).toBe(200);
  });
});

describe('auth.lockout: the master', () => {
  it('stays locked over a restart, also for a password change, while its tokens stay good', async () => {
    const session = expectOk(await login(passwords.second));
    const change = (current: string) => changePassword(session.access_token, current, 'another password');
    // All at once, and the right one last.
    const guesses = Array.from({ length: 20 }, (_, index) => change(`guess ${index}`));
    const right = change(passwords.second);
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect((await right).status).toBe(429);
    const control = openControl();
    const shutOut = await control.transaction(async (sql) => {
      await lockSubject(sql, masterSubject('admin'));
      return [await change(passwords.second), await login(passwords.second)];
    }).finally(() => control.end());
    expect(shutOut.map(({ status }) => status)).toEqual([429, 429]);
    await restart();
    const response = await login(passwords.second);
    expect([response.status, response.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(200);
    expect((await bearer(session.access_token).get('/api/workspaces')).status).toBe(200);
    expect(claimsOf(session.access_token).role).toBe('master_admin');
  });
});
