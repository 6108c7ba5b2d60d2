// An end-user shows that the address is theirs.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { mailsTo, secretFor } from '../../harness/mailbox.ts';
import { sendRaw } from '../../harness/raw-requests.ts';
import { ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;
const bad = {
  code: 'validation',
  message: 'token: is not valid, has expired or has been used',
  errors: [{ path: 'token', code: 'invalid', message: 'is not valid, has expired or has been used' }],
};

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const confirm = (token: string, path = auth) => as().post(`${path}/verify-email/confirm`, { token });

describe('verify-email', () => {
  it('mails a token that verifies the address once', async () => {
    const user = await ownUser(own);
    expect(expectOk(await user.post(`${auth}/verify-email/request`))).toEqual({ ok: true });
    const token = await secretFor(user.email);
    expect((await user.get(`${auth}/me`)).body.verified).toBe(false);
    expect(expectOk(await user.post(`${auth}/verify-email/confirm`, { token }))).toEqual({ ok: true });
    expect((await user.get(`${auth}/me`)).body).toMatchObject({ verified: true, has_password: true });
    expect((await confirm(token)).body).toEqual(bad);
  });

  it('verify.stranger: by the mail alone, leaves nothing of what the maker of the account left in it', async () => {
    const [user, other] = [await ownUser(own), await ownUser(own)];
    const { email, password } = user;
    await enrol(user, auth);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(email);
    // The session of somebody else is none of this account.
    expectOk(await other.post(`${auth}/verify-email/confirm`, { token }));
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    expect((await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken })).status).toBe(401);
    expect((await as().post(`${auth}/users/login`, { email, password })).status).toBe(401);
    expect(expectOk(await own.admin.get(`${own.path}/users/${user.id}`)))
      .toMatchObject({ email, verified: true, has_password: false, totp_enabled: false });
    expectOk(await other.get(`${auth}/me`));
  });

  it('verify.stranger: by the mail alone, leaves an account alone that is verified already', async () => {
    const user = await ownUser(own);
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    expectOk(await user.post(`${auth}/verify-email/request`));
    expectOk(await confirm(await secretFor(user.email)));
    expect((await user.get(`${auth}/me`)).body).toMatchObject({ verified: true, has_password: true });
  });

  it('makes earlier tokens worthless with every request', async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    expectOk(await user.post(`${auth}/verify-email/request`));
    await mailsTo(user.email, 2);
    const [first = '', second = ''] = await mailsTo(user.email, 2);
    const tokens = [first, second].map((mail) => /^[\w-]{43}$/m.exec(mail)?.[0] ?? '');
    expect((await confirm(tokens[0] ?? '')).body).toEqual(bad);
    expectOk(await confirm(tokens[1] ?? ''));
  });

  it('otp.single-use-race: lets one of 50 redemptions at once win', async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(user.email);
    const responses = await Promise.all(Array.from({ length: 50 }, () => confirm(token)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(49);
  });

  it('refuses tokens of another workspace and of another purpose, and leaves them good', async () => {
    const other = await ownWorkspace();
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(user.email);
    expect((await confirm(token, `${other.path}/auth`)).body).toEqual(bad);
    const reset = { token, new_password: 'another password' };
    expect((await as().post(`${auth}/password-reset/confirm`, reset)).body).toEqual(bad);
    expectOk(await confirm(token));
  });

  it.each(['otp', 'password-reset'])('mail.base-url: is no host that the caller names: %s', async (flow) => {
    const { email } = await ownUser(own);
    const body = JSON.stringify({ email });
    const response = await sendRaw(
      serverUrl(),
      `POST ${auth}/${flow}/request HTTP/1.1\r\nHost: evil.example\r\nOrigin: https://evil.example\r\n` +
        `Referer: https://evil.example/\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(response.status).toBe(200);
    const [mail = ''] = await mailsTo(email);
    expect(mail).not.toMatch(/evil\.example|https?:/);
  });

  it('mail.base-url: puts nothing of the request into the mail', async () => {
    const user = await ownUser(own);
    const headers = { 'X-Forwarded-Host': 'evil.example', 'Forwarded': 'host=evil.example' };
    expectOk(await user.post(`${auth}/verify-email/request`, undefined, headers));
    const [mail = ''] = await mailsTo(user.email);
    expect(mail).not.toMatch(/evil\.example|https?:/);
    expect(mail).toContain('\nSubject: Confirm your email address\n');
    expect(mail).toContain(`confirm that ${user.email} is your`);
    expect(mail).toContain('Content-Type: text/plain');
    expect(mail).toContain('Content-Type: text/html');
  });
});
