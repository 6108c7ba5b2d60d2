// Sign-ins that are under way while somebody else changes the account.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pool, Sql } from '../../../storage/pool.ts';
import { type Answer, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { type CodeHost, startCodeHost } from '../../harness/code-host.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { authorize, redeem, useProvider } from '../../harness/oauth.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';
import { somebodyWaits } from '../../harness/waiting.ts';

let own: OwnWorkspace;
let host: CodeHost;
let pool: Pool;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
  await useProvider(own, 'github', host);
  pool = await openDatabaseOf(own.id);
});
afterAll(() => Promise.all([host.close(), pool.end()]));

/** Changes a user in a transaction that ends when the sign-in waits for it, or is over. */
async function signInMeanwhile(
  change: (sql: Sql) => Promise<unknown>,
  signIn: () => Promise<Answer>,
): Promise<Answer> {
  let isOver = false;
  const answering = await pool.transaction(async (sql) => {
    await change(sql);
    const answer = signIn().finally(() => isOver = true);
    while (!isOver && !await somebodyWaits(sql));
    return { answer };
  });
  return await answering.answer;
}

describe('session.revoke-all', () => {
  it('leaves no challenge to a login that was under way with the old password', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    await enrol(user, `${own.path}/auth`);
    const answer = await signInMeanwhile(
      (sql) => sql`update workspace.users set password_hash = 'another' where id = ${user.id}`,
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(answer, 401, 'bad_credentials');
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
    const answer = await signInMeanwhile(
      (sql) => change(sql, id),
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(answer, 401, 'bad_credentials');
  });

  it('lets no change of address begin with the old password', async () => {
    const user = await ownUser(own);
    const { password } = user;
    const new_email = freshEmail();
    const answer = await signInMeanwhile(
      (sql) => sql`update workspace.users set password_hash = 'another' where id = ${user.id}`,
      () => user.post(`${own.path}/auth/email-change/request`, { new_email, password }),
    );
    expectError(answer, 401, 'bad_credentials');
  });
});

describe('auth.lockout', () => {
  it('refuses the right password of a user who is locked while the login is under way', async () => {
    const { id, email, password } = await ownUser(own);
    const answer = await signInMeanwhile(
      async (sql) => {
        await sql`select 1 from workspace.users where id = ${id} for update`;
        await sql`
          insert into workspace.lockouts (subject, failed_at, last_failed_at, locked_until)
          values (${`user:${email}`}, array[now()], now(), now() + interval '5 minutes')`;
      },
      () => as().post(`${own.path}/auth/users/login`, { email, password }),
    );
    expectError(answer, 429, 'too_many_requests');
    expect((await as().post(`${own.path}/auth/users/login`, { email, password })).status).toBe(429);
  });

  it('refuses that of an admin, too', async () => {
    const { email, password } = await own.login();
    const login = (text: string) => as().post(`${own.path}/auth/admin/login`, { email, password: text });
    expect((await login('a wrong one')).status).toBe(401);
    const answer = await signInMeanwhile(
      (sql) =>
        sql`
          update workspace.lockouts set last_failed_at = now(), locked_until = now() + interval '5 minutes'
          where subject = ${`ws:${own.id}:${email}`}`,
      () => login(password),
    );
    expectError(answer, 429, 'too_many_requests');
    expect((await login(password)).status).toBe(429);
  });
});

describe('oauth.prehijack', () => {
  it('lets nobody in by a link that is dropped while they sign in', async () => {
    const someone = { id: 7, emails: [{ email: freshEmail(), primary: true, verified: true }] };
    const visit = async () => host.enter(expectOk(await authorize(own, 'github')).authorize_url, someone);
    const { user } = expectOk(await redeem(own, 'github', await visit()));
    const back = await visit();
    const answer = await signInMeanwhile(
      async (sql) => {
        await sql`select 1 from workspace.users where id = ${user.id} for update`;
        await sql`delete from workspace.oauth_links where user_id = ${user.id}`;
      },
      () => redeem(own, 'github', back),
    );
    expectError(answer, 401, 'bad_credentials');
    expect((await own.admin.get(`${own.path}/users/${user.id}`)).status).toBe(200);
  });
});
