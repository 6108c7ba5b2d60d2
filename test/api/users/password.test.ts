// A user who knows the password changes it, and stays signed in where that was done.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { expectError } from '../../harness/expectations.ts';
import { mailsTo, outbox, secretFor } from '../../harness/mailbox.ts';
import { claimsOf, cookiesOf } from '../../harness/tokens.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;
const next = 'another password';

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const change = (user: OwnUser, current_password = user.password, new_password = next) =>
  user.post(`${auth}/password`, { current_password, new_password });
const login = (user: OwnUser, password: string, app?: string) =>
  as().post(`${auth}/users/login`, { email: user.email, password, ...(app === undefined ? {} : { app }) });

describe('a change of the own password', () => {
  it('session.revoke-all: ends every session, also copies of its own, and goes on with new tokens', async () => {
    const user = await ownUser(own);
    const other = expectOk(await login(user, user.password));
    const changed = await change(user);
    const session = expectOk(changed);
    expect(session.user).toMatchObject({ id: user.id, has_password: true });
    expect(cookiesOf(changed)).toHaveLength(2);
    for (const token of [user.token, other.access_token]) {
      expect((await as(token).get(`${auth}/me`)).status).toBe(401);
    }
    for (const refresh_token of [user.refreshToken, other.refresh_token]) {
      expect((await as().post(`${auth}/users/refresh`, { refresh_token })).status).toBe(401);
    }
    expectOk(await as(session.access_token).get(`${auth}/me`));
    const { refresh_token } = session;
    const refreshed = expectOk(await as().post(`${auth}/users/refresh`, { refresh_token }));
    expect(expectOk(await as(refreshed.access_token).get(`${auth}/sessions`)).total_items).toBe(1);
    expect((await login(user, user.password)).status).toBe(401);
    expectOk(await login(user, next));
  });

  it('needs the right password, and counts wrong ones with those of logins', async () => {
    const user = await ownUser(own);
    for (let count = 0; count < 3; count++) {
      const wrong = await change(user, 'not the password');
      expectError(wrong, 401, 'bad_credentials');
      expect(wrong.body.message).toBe('the password is wrong');
    }
    for (let count = 0; count < 2; count++) expect((await login(user, 'wrong one')).status).toBe(401);
    expectError(await change(user), 429, 'too_many_requests');
    expectError(await login(user, user.password), 429, 'too_many_requests');
    expectOk(await user.get(`${auth}/me`));
  });

  it('checks the new password first, and names the member', async () => {
    const user = await ownUser(own);
    const weak = await change(user, user.password, 'short');
    expectError(weak, 400, 'validation');
    expect(weak.body.errors).toMatchObject([{ path: 'new_password' }]);
    expectError(await user.post(`${auth}/password`, { new_password: next }), 400, 'validation');
    expectOk(await user.get(`${auth}/me`));
  });

  it('makes tokens for an app of such tokens, and none for the others', async () => {
    const user = await ownUser(own);
    const app = await own.app();
    const bound = expectOk(await login(user, user.password, app.id));
    const body = { current_password: user.password, new_password: next };
    const changed = expectOk(await as(bound.access_token).post(`${auth}/password`, body));
    expect(claimsOf(changed.access_token)).toMatchObject({ app: app.id, sub: user.id });
    const { refresh_token } = changed;
    const { access_token } = expectOk(await as().post(`${auth}/users/refresh`, { refresh_token }));
    expect(claimsOf(access_token)).toMatchObject({ app: app.id });
    expectOk(await own.admin.delete(app.path));
    const again = { current_password: next, new_password: user.password };
    expect((await as(access_token).post(`${auth}/password`, again)).status).toBe(401);
  });

  it('is for those who have a password, and while passwords are allowed', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    const { access_token } = expectOk(await as().post(`${auth}/otp/login`, { email, code }));
    const body = { current_password: 'there is none', new_password: next };
    expectError(await as(access_token).post(`${auth}/password`, body), 409, 'conflict');
    const other = await ownWorkspace();
    const user = await ownUser(other);
    const policy = { kind: 'enum_set', allowed: ['otp'] };
    expectOk(await other.admin.put(`${other.path}/policies/auth.methods`, policy));
    const switchedOff = { current_password: user.password, new_password: next };
    expectError(await user.post(`${other.path}/auth/password`, switchedOff), 403, 'forbidden');
  });

  it('voids what was mailed before, and challenges; the second factor stays', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const token = await secretFor(email);
    const authenticator = await enrol(user, auth);
    const { challenge_id } = expectOk(await login(user, password));
    const code = authenticator.code();
    expectOk(await change(user));
    const reset = await as().post(`${auth}/password-reset/confirm`, { token, new_password: password });
    expectError(reset, 400, 'validation');
    const challenged = await as().post(`${auth}/users/login/totp`, { challenge_id, code });
    expectError(challenged, 401, 'bad_credentials');
    expect((await login(user, next)).status).toBe(202);
  });

  it('of several at once is one', async () => {
    const user = await ownUser(own);
    const passwords = ['first of the new', 'second of the new', 'third of the new', 'fourth of the new'];
    const responses = await Promise.all(passwords.map((password) => change(user, user.password, password)));
    const winners = passwords.filter((_, index) => responses[index]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(passwords.length - 1);
    expectOk(await login(user, winners[0] ?? ''));
  });

  it('tells the owner of the address by mail, and no stranger', async () => {
    const [user, stranger] = [await ownUser(own), await ownUser(own)];
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    expectOk(await change(stranger));
    expectOk(await change(user));
    const [mail] = await mailsTo(user.email);
    expect(mail).toContain('Subject: Your password was changed');
    // Mail leaves in order, so the first would be there by now.
    expect((await outbox()).filter((each) => each.includes(stranger.email))).toEqual([]);
  });

  it('is audited, without passwords', async () => {
    const user = await ownUser(own);
    expectOk(await change(user));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=password_change`));
    expect(items[0]).toMatchObject({ actor: user.email, target: user.email, details: { id: user.id } });
    for (const secret of [user.password, next]) expect(JSON.stringify(items)).not.toContain(secret);
  });
});
