// Somebody who can read a user's mail sets a new password.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { outbox, secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';
import { cookiesOf } from '../../harness/tokens.ts';

let own: OwnWorkspace;
let auth: string;
const next = 'another password';

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const request = (email: string) => as().post(`${auth}/password-reset/request`, { email });
const confirm = (token: string, password = next) =>
  as().post(`${auth}/password-reset/confirm`, { token, new_password: password });
const login = (email: string, password: string) => as().post(`${auth}/users/login`, { email, password });

describe('password-reset', () => {
  it('auth.uniform: answers alike for an address that nobody has, and mails nobody', async () => {
    const user = await ownUser(own);
    const nobody = freshEmail();
    const responses = [await request(nobody), await request(user.email)];
    const seen = responses.map(({ status, body, headers }) => ({
      status,
      body,
      headers: [...headers.keys()].sort(),
    }));
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ status: 200, body: { ok: true } });
    // Mail leaves in order, so the first would be there by now.
    await secretFor(user.email);
    expect((await outbox()).filter((mail) => mail.includes(nobody))).toEqual([]);
  });

  it('auth.timing: writes as much for an address that nobody has', async () => {
    const emails = [freshEmail(), (await ownUser(own)).email];
    for (const email of emails) expectOk(await request(email));
    const database = await openDatabaseOf(own.id);
    const tokens = await database.run((sql) =>
      sql<{ email: string }[]>`
        select email from workspace.one_time_tokens where purpose = 'password_reset' and email in ${
        sql(emails)
      }`
    ).finally(() => database.end());
    expect(tokens.map(({ email }) => email).sort()).toEqual(emails.toSorted());
  });

  it('session.revoke-all: replaces the password and ends every session and access token', async () => {
    const user = await ownUser(own);
    expectOk(await user.get(`${auth}/me`));
    expectOk(await request(user.email.toUpperCase()));
    expect(expectOk(await confirm(await secretFor(user.email)))).toEqual({ ok: true });
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    const refreshed = await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken });
    expect(refreshed.status).toBe(401);
    expect((await login(user.email, user.password)).status).toBe(401);
    const session = expectOk(await login(user.email, next));
    expect(session.user.verified).toBe(true);
    expectOk(await as(session.access_token).get(`${auth}/me`));
  });

  it('oauth.prehijack: leaves no second factor to whoever registered the address, and a verified user theirs', async () => {
    const database = await openDatabaseOf(own.id);
    for (const verified of [false, true]) {
      const user = await ownUser(own);
      await enrol(user, auth);
      expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified }));
      expectOk(await request(user.email));
      expectOk(await confirm(await secretFor(user.email)));
      expect((await login(user.email, next)).status).toBe(verified ? 202 : 200);
      const codes = await database.run((sql) =>
        sql`select from workspace.recovery_codes where user_id = ${user.id}`
      );
      expect(codes).toHaveLength(verified ? 10 : 0);
    }
    await database.end();
  });

  it('takes the cookie away that it made worthless, so that its browser can sign in in any way', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    expectOk(await confirm(await secretFor(user.email)));
    const browser = { Cookie: `svc_at=${user.token}`, Origin: serverUrl() };
    const asked = await as().post(`${auth}/otp/request`, { email: user.email }, browser);
    expect(asked.status).toBe(401);
    expect(cookiesOf(asked)).toEqual([
      'svc_at=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Priority=High',
    ]);
    expectOk(await as().post(`${auth}/otp/request`, { email: user.email }));
    const byHeader = await user.get(`${auth}/me`);
    expect([byHeader.status, cookiesOf(byHeader)]).toEqual([401, []]);
  });

  it('makes a code worthless that was mailed before', async () => {
    const user = await ownUser(own);
    expectOk(await as().post(`${auth}/otp/request`, { email: user.email }));
    const code = await secretFor(user.email);
    expectOk(await request(user.email));
    expectOk(await confirm(await secretFor(user.email, 2)));
    const response = await as().post(`${auth}/otp/login`, { email: user.email, code });
    expect(response.body.code).toBe('bad_credentials');
  });

  it('takes a token once, and not with a password that is too weak', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    const token = await secretFor(user.email);
    const weak = await confirm(token, 'short');
    expect(weak.body.message).toBe('new_password: must have at least 8 characters');
    expectOk(await confirm(token));
    expect((await confirm(token)).body.code).toBe('validation');
    expect((await confirm('A'.repeat(43))).body.code).toBe('validation');
  });

  it('otp.single-use-race: lets one of 50 redemptions at once win', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    const token = await secretFor(user.email);
    const passwords = Array.from({ length: 50 }, (_, index) => `password number ${index}`);
    const responses = await Promise.all(passwords.map((password) => confirm(token, password)));
    const winners = passwords.filter((_, index) => responses[index]?.status === 200);
    expect(winners).toHaveLength(1);
    expectOk(await login(user.email, winners[0] ?? ''));
  });

  it('is audited', async () => {
    const user = await ownUser(own);
    expectOk(await request(user.email));
    expectOk(await confirm(await secretFor(user.email)));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=password_reset`));
    expect(items[0]).toMatchObject({ actor: user.email, target: user.email, details: { id: user.id } });
    expect(JSON.stringify(items)).not.toContain(next);
  });
});
