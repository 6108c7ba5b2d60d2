// Sign-ins that are under way while somebody else changes the account.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pool, Sql } from '../../../storage/connections/pool.ts';
import { lockFamily } from '../../../storage/sessions.ts';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { type CodeHost, startCodeHost } from '../../harness/code-host.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { authorize, redeem, useProvider } from '../../harness/oauth.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';
import { type Meanwhile, responseMeanwhile } from '../../harness/waiting.ts';

let own: OwnWorkspace;
let host: CodeHost;
let pool: Pool;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
  await useProvider(own, 'github', host);
  pool = await openDatabaseOf(own.id);
});
afterAll(() => Promise.all([host.close(), pool.end()]));

const signInMeanwhile = (...meanwhile: Meanwhile) => responseMeanwhile(pool, ...meanwhile);

/** Somebody else makes an account of an address. */
const squat = (email: string) => (sql: Sql) =>
  sql`
    insert into workspace.users (id, email, password_hash, created_at, updated_at)
    values (gen_random_uuid(), ${email}, 'of somebody else', now(), now())`;

describe('session.revoke-all', () => {
  it('leaves no challenge to a login that was under way with the old password', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    await enrol(user, `${own.path}/auth`);
    const response = await signInMeanwhile(
      (sql) => sql`update workspace.users set password_hash = 'another' where id = ${user.id}`,
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(response, 401, 'bad_credentials');
  });

  it.each([
    [
      'password',
      (sql: Sql, id: string) => sql`update workspace.users set password_hash = 'another' where id = ${id}`,
    ],
    [
      'second factor',
      (sql: Sql, id: string) => sql`update workspace.users set totp_enabled = true where id = ${id}`,
    ],
  ])('leaves no tokens to a login that was under way when the %s changed', async (_what, change) => {
    const { id, email, password } = await ownUser(own);
    const response = await signInMeanwhile(
      (sql) => change(sql, id),
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(response, 401, 'bad_credentials');
  });

  it('mfa.no-bypass: takes no code of a second factor that is taken away while the code is looked at', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const authenticator = await enrol(user, `${own.path}/auth`);
    const { challenge_id } = expectOk(await as().post(`${own.path}/auth/users/login`, { email, password }));
    const body = { challenge_id, code: authenticator.code() };
    const response = await signInMeanwhile(
      (sql) => sql`update workspace.users set totp_enabled = false, totp_sealed = null where id = ${user.id}`,
      () => as().post(`${own.path}/auth/users/login/totp`, body),
    );
    expectError(response, 401, 'bad_credentials');
  });

  it.each([
    [
      'credentials change',
      (sql: Sql, id: string) => sql`select from workspace.users where id = ${id} for update`,
    ],
    ['login is ended', (sql: Sql, _id: string, login: string) => lockFamily(sql, login)],
  ])('leaves no session to a refresh token that is exchanged while its %s', async (_what, hold) => {
    const user = await ownUser(own);
    const { id, refreshToken: refresh_token } = user;
    const [login] = expectOk(await user.get(`${own.path}/auth/sessions`)).items;
    const response = await signInMeanwhile(
      (sql) => hold(sql, id, login.id),
      () => as().post(`${own.path}/auth/users/refresh`, { refresh_token }),
      (sql) => sql`update workspace.sessions set revoked_at = now() where principal_id = ${id}`,
    );
    expectError(response, 401, 'unauthorized');
    const live = await pool.run((sql) =>
      sql`select from workspace.sessions where principal_id = ${id} and revoked_at is null`
    );
    expect(live).toHaveLength(0);
  });

  it('lets no change of address begin with the old password', async () => {
    const user = await ownUser(own);
    const { password } = user;
    const new_email = freshEmail();
    const response = await signInMeanwhile(
      (sql) => sql`update workspace.users set password_hash = 'another' where id = ${user.id}`,
      () => user.post(`${own.path}/auth/email-change/request`, { new_email, password }),
    );
    expectError(response, 401, 'bad_credentials');
  });
});

describe('auth.lockout', () => {
  it('refuses the right password of a user who is locked while the login is under way', async () => {
    const { id, email, password } = await ownUser(own);
    const response = await signInMeanwhile(
      async (sql) => {
        await sql`select 1 from workspace.users where id = ${id} for update`;
        await sql`
          insert into workspace.lockouts (subject, failed_at, last_failed_at, locked_until)
          values (${`user:${email}\nloopback`}, array[now()], now(), now() + interval '5 minutes')`;
      },
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(response, 429, 'too_many_requests');
    expect((await as().post(`${own.path}/auth/users/login`, { email, password })).status).toBe(429);
  });

  it('refuses that of an admin, too', async () => {
    const { email, password } = await own.login();
    const login = (text: string) => as().post(`${own.path}/auth/admin/login`, { email, password: text });
    expect((await login('a wrong one')).status).toBe(401);
    const response = await signInMeanwhile(
      (sql) =>
        sql`
          update workspace.lockouts set last_failed_at = now(), locked_until = now() + interval '5 minutes'
          where subject = ${`ws:${own.id}:${email}\nloopback`}`,
      () => login(password),
    );
    expectError(response, 429, 'too_many_requests');
    expect((await login(password)).status).toBe(429);
  });
});

describe('oauth.prehijack', () => {
  it('lets nobody in by a link that is dropped while they sign in', async () => {
    const someone = { id: 7, emails: [{ email: freshEmail(), primary: true, verified: true }] };
    const visit = async () => host.enter(expectOk(await authorize(own, 'github')).authorize_url, someone);
    const { user } = expectOk(await redeem(own, 'github', await visit()));
    const back = await visit();
    const response = await signInMeanwhile(
      async (sql) => {
        await sql`select 1 from workspace.users where id = ${user.id} for update`;
        await sql`delete from workspace.oauth_links where user_id = ${user.id}`;
      },
      () => redeem(own, 'github', back),
    );
    expectError(response, 401, 'bad_credentials');
    expect((await own.admin.get(`${own.path}/users/${user.id}`)).status).toBe(200);
  });

  it('opens no account by an address that is taken from it while its new owner signs in', async () => {
    const { id, email } = await ownUser(own);
    const someone = { id: 9, emails: [{ email, primary: true, verified: true }] };
    const back = await host.enter(expectOk(await authorize(own, 'github')).authorize_url, someone);
    const response = await signInMeanwhile(
      (sql) => sql`update workspace.users set email = ${freshEmail()} where id = ${id}`,
      () => redeem(own, 'github', back),
    );
    expectError(response, 401, 'bad_credentials');
    expect((await own.admin.get(`${own.path}/users/${id}`)).body.oauth_providers).toEqual([]);
  });
});

describe('a provider that vouches for an address', () => {
  it('oauth.prehijack: lets its owner into the account that somebody makes of it meanwhile, and cleans it', async () => {
    const email = freshEmail();
    const someone = { id: 8, emails: [{ email, primary: true, verified: true }] };
    const back = await host.enter(expectOk(await authorize(own, 'github')).authorize_url, someone);
    const response = await signInMeanwhile(squat(email), () => redeem(own, 'github', back));
    expect(expectOk(response).user).toMatchObject({ email, verified: true, has_password: false });
  });
});

describe('a code to log in', () => {
  it('is good for the account that somebody makes of its address meanwhile, and cleans it', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${own.path}/auth/otp/request`, { email }));
    const code = await secretFor(email);
    const response = await signInMeanwhile(
      squat(email),
      () => as().post(`${own.path}/auth/otp/login`, { email, code }),
    );
    expect(expectOk(response).user).toMatchObject({ email, verified: true, has_password: false });
  });
});

describe('a token that was asked for while the address was being changed', () => {
  const purposes = {
    password_reset: {
      ask: ({ email }: OwnUser) => as().post(`${own.path}/auth/password-reset/request`, { email }),
      redeem: (token: string) =>
        as().post(`${own.path}/auth/password-reset/confirm`, { token, new_password: 'another password' }),
    },
    verify_email: {
      ask: (user: OwnUser) => user.post(`${own.path}/auth/verify-email/request`),
      redeem: (token: string) => as().post(`${own.path}/auth/verify-email/confirm`, { token }),
    },
  };

  it.each(Object.entries(purposes))(
    'is worth nothing to who reads the old one: %s',
    async (purpose, { ask, redeem }) => {
      const user = await ownUser(own);
      const { id, email } = user;
      expectOk(await ask(user));
      const asked = await signInMeanwhile(
        async (sql) => {
          await sql`
            select 1 from workspace.mail_budgets where email = ${email} and purpose = ${purpose} for update`;
          await sql`update workspace.users set email = ${freshEmail()}, verified = false where id = ${id}`;
        },
        () => ask(user),
      );
      expectOk(asked);
      expectError(await redeem(await secretFor(email, 2)), 400, 'validation');
      expect((await own.admin.get(`${own.path}/users/${id}`)).body.verified).toBe(false);
    },
  );
});

describe('a mail', () => {
  const deleted = (id: string) => (sql: Sql) => sql`delete from workspace.users where id = ${id}`;

  it('that a user is deleted while asking for is not theirs to ask for any more', async () => {
    const user = await ownUser(own);
    const asked = await signInMeanwhile(
      deleted(user.id),
      () => user.post(`${own.path}/auth/verify-email/request`),
    );
    expectError(asked, 401, 'unauthorized');
  });

  it('that is asked for while its user is deleted is answered as one for nobody', async () => {
    const { id, email } = await ownUser(own);
    const asked = await signInMeanwhile(
      deleted(id),
      () => as().post(`${own.path}/auth/password-reset/request`, { email }),
    );
    expect([asked.status, asked.body]).toEqual([200, { ok: true }]);
  });
});
