// What the audit log has of an end-user's own doings: each once, and nothing secret.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;
beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

interface Entry {
  action: string;
  target: string;
  details: Record<string, unknown>;
}

/** What somebody did, in the order of it. */
async function entriesOf(actor: string): Promise<Entry[]> {
  return expectOk(await own.admin.get(`${own.path}/audit?actor=${actor}&per_page=200`)).items.toReversed();
}

const actions = (entries: readonly Entry[]) => entries.map(({ action }) => action);

describe('audit.integrity: the audit log', () => {
  it('has every change that users make to their account', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    expectOk(await user.post(`${auth}/verify-email/request`));
    expectOk(await user.post(`${auth}/verify-email/confirm`, { token: await secretFor(email) }));
    const authenticator = await enrol(user, auth);
    expectOk(await user.post(`${auth}/totp/disable`, { code: authenticator.code() }));
    const next = freshEmail();
    expectOk(await user.post(`${auth}/email-change/request`, { new_email: next, password }));
    const token = await secretFor(next);
    expectOk(await user.post(`${auth}/email-change/confirm`, { token }));
    const entries = await entriesOf(email);
    expect(actions(entries)).toEqual([
      'user_register',
      'login_success',
      'email_verify',
      'totp_enable',
      'totp_disable',
      'email_change',
    ]);
    expect(entries.at(-1)).toMatchObject({ target: next, details: { id: user.id, from: email } });
    const text = JSON.stringify(entries);
    for (const secret of [password, token, authenticator.used, ...authenticator.recoveryCodes]) {
      expect(text).not.toContain(secret);
    }
  });

  it('has the end of logins, one and all', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const other = expectOk(await as().post(`${auth}/users/login`, { email, password }));
    const [, second] = expectOk(await user.get(`${auth}/sessions`)).items;
    expectOk(await user.delete(`${auth}/sessions/${second.id}`));
    expect((await as(other.access_token).get(`${auth}/me`)).status).toBe(401);
    expectOk(await user.delete(`${auth}/sessions`));
    const ended = (await entriesOf(email)).slice(-2);
    expect(actions(ended)).toEqual(['session_revoke', 'session_revoke_all']);
    expect(ended[0]?.details).toMatchObject({ id: second.id });
  });

  it('has a user whom a mailed code has made, and the code that was wrong before', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    const wrong = code === '000000' ? '000001' : '000000';
    expect((await as().post(`${auth}/otp/login`, { email, code: wrong })).status).toBe(401);
    const { user } = expectOk(await as().post(`${auth}/otp/login`, { email, code }));
    const entries = await entriesOf(email);
    expect(actions(entries)).toEqual(['login_failed', 'user_register', 'login_success']);
    expect(entries[1]?.details).toMatchObject({ id: user.id, by: 'otp' });
    expect(JSON.stringify(entries)).not.toContain(`"${code}"`);
  });
});
