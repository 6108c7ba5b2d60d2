// The entries of logins, also of those that end before tokens are issued.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace, patiently } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;
beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const login = (whose: 'admin' | 'users', body: object) =>
  patiently(() => as().post(`${auth}/${whose}/login`, body));

interface Entry {
  action: string;
  details: Record<string, unknown>;
}

/** What somebody did since, in the order of it. */
async function entriesOf(actor: string): Promise<Entry[]> {
  return expectOk(await own.admin.get(`${own.path}/audit?actor=${actor}&per_page=200`)).items.toReversed();
}

/** Each of these details of each entry. */
const told = (entries: readonly Entry[], name: string) =>
  entries.map(({ action, details }) => `${action}: ${String(details[name])}`);

describe('the audit of logins', () => {
  it('distinguishes an end-user from an admin with the same address', async () => {
    const { email, password } = await own.login();
    const user = await ownUser(own, email);
    const wrong = 'a wrong password';
    expect((await login('admin', { email, password: wrong })).status).toBe(401);
    expect((await login('users', { email, password: wrong })).status).toBe(401);
    const admin = expectOk(await login('admin', { email, password }));
    const { refresh_token } = admin;
    expectOk(await as().post('/_/auth/refresh', { refresh_token }));
    expect((await as().post('/_/auth/refresh', { refresh_token })).status).toBe(401);
    expectOk(await as().post('/_/auth/logout', { refresh_token: user.refreshToken }));
    expect(told(await entriesOf(email), 'as')).toEqual([
      'login_success: admin',
      'user_register: undefined',
      'login_success: user',
      'login_failed: admin',
      'login_failed: user',
      'login_success: admin',
      'token_reuse: admin',
      'logout: user',
    ]);
  });

  it('has a proof that was right, and the second factor that it was not enough without', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    // Else the mailed code would drop password and second factor.
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    const { recoveryCodes: [code = ''] } = await enrol(user, auth);
    expect((await login('users', { email, password })).status).toBe(202);
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const byMail = await as().post(`${auth}/otp/login`, { email, code: await secretFor(email) });
    expect(byMail.status).toBe(202);
    const { challenge_id } = byMail.body;
    expectOk(await as().post(`${auth}/users/login/totp`, { challenge_id, code }));
    expect(told(await entriesOf(email), 'by').slice(-3)).toEqual([
      'mfa_required: password',
      'mfa_required: otp',
      'login_success: undefined',
    ]);
  });

  it('has a right password with which tokens for an app out of reach were asked for', async () => {
    const { id: shop } = await own.app();
    const { id: blog } = await own.app();
    const admin = await own.login([shop]);
    const user = await ownUser(own);
    for (
      const [whose, { email, password }, app] of [['admin', admin, blog], ['users', user, 'ghost']] as const
    ) {
      const response = await login(whose, { email, password, app });
      expect(response.body.code).toBe('forbidden');
      const refused = (await entriesOf(email)).at(-1);
      expect(refused).toMatchObject({ action: 'login_failed', details: { reason: response.body.message } });
      // Nothing was guessed.
      for (let time = 0; time < 5; time++) await login(whose, { email, password, app });
      expectOk(await login(whose, { email, password }));
    }
  });
});
