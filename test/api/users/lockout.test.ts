// One count of failures for everything that an end-user can fail at.
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { userSubject } from '../../../api/auth/login/user-attempt.ts';
import { lockSubject } from '../../../storage/lockouts.ts';
import { type ApiResponse, as, expectOk, ownWorkspace, patiently } from '../../harness/api.ts';
import { enrol, wrongCode } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const own = await ownWorkspace();
const auth = `${own.path}/auth`;

const post = (path: string, body: unknown) => as().post(`${auth}/${path}`, body);

describe('auth.lockout', () => {
  it('is shared by password, mailed code and second factor, and shuts all three', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const authenticator = await enrol(user, auth);
    expectOk(await post('otp/request', { email }));
    const mailed = await secretFor(email);
    const { challenge_id } = expectOk(await post('users/login', { email, password }));
    const failures = [
      await post('users/login', { email, password: 'wrong one' }),
      await post('otp/login', { email, code: mailed === '000000' ? '000001' : '000000' }),
      await post('users/login/totp', { challenge_id, code: wrongCode(authenticator) }),
      await post('users/login', { email: ` ${email.toUpperCase()} `, password: 'wrong two' }),
      await post('users/login/totp', { challenge_id, code: 'nonsense' }),
    ];
    expect(failures.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    const right = [
      await post('users/login', { email, password }),
      await post('otp/login', { email, code: mailed }),
      await post('users/login/totp', { challenge_id, code: authenticator.code() }),
    ];
    for (const { status, headers } of right) {
      expect(status).toBe(429);
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    }
  });

  it('has nobody wait for a turn who is shut out: guesses would hold all connections', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const { code } = await enrol(user, auth);
    const { challenge_id } = expectOk(await post('users/login', { email, password }));
    for (let count = 0; count < 5; count++) await post('users/login', { email, password: 'wrong one' });
    const pool = await openDatabaseOf(own.id);
    const responses = await pool.transaction(async (sql) => {
      await lockSubject(sql, userSubject(email));
      return [
        await post('users/login', { email, password }),
        await post('otp/login', { email, code: '000000' }),
        await post('users/login/totp', { challenge_id, code: code() }),
        await user.post(`${auth}/totp/disable`, { code: code() }),
        await user.post(`${auth}/email-change/request`, { new_email: freshEmail(), password }),
        await user.post(`${auth}/password`, { current_password: password, new_password: password }),
      ];
    }).finally(() => pool.end());
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(429));
  });

  it('holds for guesses at once: wrong ones before the right one shut it out, whatever it would open', async () => {
    const user = await ownUser(own);
    const { email } = user;
    const authenticator = await enrol(user, auth);
    const { challenge_id } = expectOk(await post('users/login', { email, password: user.password }));
    const [code, wrong] = [authenticator.code(), wrongCode(authenticator)];
    const other = await ownUser(own);
    const ways: [right: () => Promise<ApiResponse>, wrong: () => Promise<ApiResponse>][] = [
      [
        () => post('users/login/totp', { challenge_id, code }),
        () => post('users/login/totp', { challenge_id, code: wrong }),
      ],
      [
        () =>
          other.post(`${auth}/email-change/request`, { new_email: freshEmail(), password: other.password }),
        () => other.post(`${auth}/email-change/request`, { new_email: freshEmail(), password: 'wrong one' }),
      ],
    ];
    for (const [right, wrong] of ways) expect(await guess(right, wrong)).toEqual({ failed: 5, right: 429 });
  });

  it('holds for the password of a user with a second factor, and for turning that off', async () => {
    const first = await ownUser(own);
    await enrol(first, auth);
    const login = (password: string) => post('users/login', { email: first.email, password });
    expect(await guess(() => login(first.password), () => login('wrong one')))
      .toEqual({ failed: 5, right: 429 });
    const second = await ownUser(own);
    const authenticator = await enrol(second, auth);
    const disable = (code: string) => second.post(`${auth}/totp/disable`, { code });
    expect(await guess(() => disable(authenticator.code()), () => disable(wrongCode(authenticator))))
      .toEqual({ failed: 5, right: 429 });
  });

  it.each([
    { isEnrolled: false, verified: true, status: 200 },
    { isEnrolled: true, verified: true, status: 429 },
    // The second factor goes with all else of an account whose address nobody had proved.
    { isEnrolled: true, verified: false, status: 200 },
  ])(
    'ends with a new password that is set by mail, unless there is a second factor to guess: %o',
    async ({ isEnrolled, verified, status }) => {
      const user = await ownUser(own);
      const { email, password } = user;
      if (isEnrolled) await enrol(user, auth);
      expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified }));
      const login = (text: string) => post('users/login', { email, password: text });
      for (let failures = 0; failures < 5; failures++) expect((await login('wrong one')).status).toBe(401);
      expect((await login(password)).status).toBe(429);
      expectOk(await post('password-reset/request', { email }));
      const token = await secretFor(email);
      expectOk(await post('password-reset/confirm', { token, new_password: 'another password' }));
      expect((await login('another password')).status).toBe(status);
    },
  );

  it('counts wrong codes for an authenticator that waits to be confirmed', async () => {
    const user = await ownUser(own);
    const { email, password } = user;
    const { secret } = expectOk(await user.post(`${auth}/totp/enroll`));
    const confirm = (code: string) => user.post(`${auth}/totp/confirm`, { code });
    for (let failures = 0; failures < 5; failures++) {
      expect((await confirm('nonsense')).body.code).toBe('bad_credentials');
    }
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect((await confirm(code)).body.code).toBe('too_many_requests');
    expect((await post('users/login', { email, password })).body.code).toBe('too_many_requests');
  });
});

/** Sends 40 wrong guesses and then the right one, all without waiting for a response; those come again that are turned away. */
async function guess(right: () => Promise<ApiResponse>, wrong: () => Promise<ApiResponse>) {
  const guesses = Array.from({ length: 40 }, () => patiently(wrong));
  const last = patiently(right);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  return { failed: statuses.filter((status) => status === 401).length, right: (await last).status };
}
