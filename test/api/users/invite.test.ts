// Admins invite people by mail, who become users by setting a password.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { mailsTo, secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
const password = 'a password of the guest';

beforeAll(async () => {
  own = await ownWorkspace();
});

const invite = (email: string, { admin, path } = own) => admin.post(`${path}/users/invite`, { email });
const accept = (token: string, new_password = password) =>
  as().post(`${own.path}/auth/invite/confirm`, { token, new_password });
const login = (email: string) => as().post(`${own.path}/auth/users/login`, { email, password });

async function invited(): Promise<{ email: string; token: string }> {
  const email = freshEmail();
  expectOk(await invite(email));
  return { email, token: await secretFor(email) };
}

describe('an invitation', () => {
  it('makes a verified user of its reader, once', async () => {
    const email = freshEmail();
    const asked = await invite(` ${email.toUpperCase()} `.trim());
    expect(expectOk(asked)).toEqual({ ok: true });
    const [mail] = await mailsTo(email);
    expect(mail).toContain('Subject: You are invited');
    expect(mail).toContain(`You are invited to ${own.id}`);
    const token = await secretFor(email);
    const made = await accept(token);
    expect([made.status, made.body]).toMatchObject([201, { email, verified: true, has_password: true }]);
    expectError(await accept(token), 400, 'validation');
    expect(expectOk(await login(email)).user.id).toBe(made.body.id);
  });

  it('is for no address that has a user, then or by now', async () => {
    const user = await ownUser(own);
    const taken = await invite(user.email);
    expectError(taken, 409, 'conflict');
    expect(taken.body.errors).toMatchObject([{ path: 'email', code: 'taken' }]);
    const { email, token } = await invited();
    const squatter = await ownUser(own, email);
    expectError(await accept(token), 409, 'conflict');
    expectOk(await own.admin.delete(`${own.path}/users/${squatter.id}`));
    // Whom an admin has deleted since, no earlier invitation lets in.
    expectError(await accept(token), 400, 'validation');
  });

  it('takes the place of an earlier one, and a weak password does not use it up', async () => {
    const { email, token } = await invited();
    expectOk(await invite(email));
    const second = await secretFor(email, 2);
    expectError(await accept(token), 400, 'validation');
    const weak = await accept(second, 'short');
    expectError(weak, 400, 'validation');
    expect(weak.body.errors).toMatchObject([{ path: 'new_password' }]);
    expect((await accept(second)).status).toBe(201);
  });

  it('is accepted by one of several at once', async () => {
    const { token } = await invited();
    const responses = await Promise.all(Array.from({ length: 5 }, () => accept(token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400]);
  });

  it('ends when policy invite.ttl_sec says so, and is good for nothing else', async () => {
    const { email, token } = await invited();
    const others = ['password-reset/confirm', 'verify-email/confirm'];
    for (const way of others) {
      const body = way.startsWith('password') ? { token, new_password: password } : { token };
      expectError(await as().post(`${own.path}/auth/${way}`, body), 400, 'validation');
    }
    const database = await openDatabaseOf(own.id);
    const [row] = await database.run((sql) =>
      sql<{ days: number }[]>`
        update workspace.one_time_tokens set expires_at = now()
        where email = ${email} and purpose = 'invite'
        returning extract(epoch from old.expires_at - created_at)::float8 / 86400 as days`
    ).finally(() => database.end());
    expect(row).toEqual({ days: 7 });
    expectError(await accept(token), 400, 'validation');
  });

  it('is sent by workspace admins, within the budgets of mail', async () => {
    const other = await ownWorkspace();
    const app = await other.app();
    const user = await ownUser(other);
    const refused: ApiResponse[] = [];
    for (const caller of [app.admin, user, own.admin]) {
      refused.push(await caller.post(`${other.path}/users/invite`, { email: freshEmail() }));
    }
    for (const response of refused) expectError(response, 403, 'forbidden');
    const email = freshEmail();
    for (let count = 0; count < 5; count++) expectOk(await invite(email, other));
    expectError(await invite(email, other), 429, 'too_many_requests');
    const quota = { kind: 'range', min: 0, max: 0 };
    expectOk(await other.admin.put(`${other.path}/policies/quota.mails_per_hour`, quota));
    expectError(await invite(freshEmail(), other), 429, 'too_many_requests');
    expectError(await invite('no address', other), 400, 'validation');
  });

  it('counts against the quota of users, and needs passwords', async () => {
    const other = await ownWorkspace();
    const email = freshEmail();
    expectOk(await invite(email, other));
    const token = await secretFor(email);
    const body = { token, new_password: password };
    const accepting = () => as().post(`${other.path}/auth/invite/confirm`, body);
    const policy = async (name: string, spec: object) =>
      expectOk(await other.admin.put(`${other.path}/policies/${name}`, spec));
    await policy('quota.users', { kind: 'range', min: 0, max: 0 });
    expect((await accepting()).body.code).toBe('quota_exceeded');
    await policy('auth.methods', { kind: 'enum_set', allowed: ['otp'] });
    expectError(await accepting(), 403, 'forbidden');
    expectError(await invite(freshEmail(), other), 403, 'forbidden');
  });

  it('is audited, with who invited whom and who came, without the token', async () => {
    const { email, token } = await invited();
    const { id } = expectOk(await accept(token));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?per_page=200`));
    const about = items.filter(({ target }: { target: string }) => target === email);
    expect(about.map(({ action }: { action: string }) => action).sort()).toEqual([
      'user_invite',
      'user_register',
    ]);
    const registered = about.find(({ action }: { action: string }) => action === 'user_register');
    expect(registered).toMatchObject({ actor: email, details: { id, by: 'invite' } });
    for (const secret of [token, password]) expect(JSON.stringify(items)).not.toContain(secret);
  });
});
