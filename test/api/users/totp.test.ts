// The second factor: enrolment, the challenge on every way in, recovery codes, and the way back.
import { Secret, TOTP, URI } from 'otpauth';
import { beforeAll, describe, expect, it } from 'vitest';
import { enableTotp, setPendingTotp } from '../../../storage/workspace/totp.ts';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol, wrongCode } from '../../harness/authenticator.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { type OwnUser, ownUser } from '../../harness/users.ts';
import { cookiesOf } from '../../harness/tokens.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

const login = ({ email, password }: OwnUser) => as().post(`${auth}/users/login`, { email, password });
const responseTo = (challenge_id: string, code: string, path = auth) =>
  as().post(`${path}/users/login/totp`, { challenge_id, code });

async function challengeOf(user: OwnUser): Promise<string> {
  const response = await login(user);
  expectChallenge(response);
  return response.body.challenge_id;
}

function expectChallenge(response: ApiResponse): void {
  expect(response.status).toBe(202);
  expect(response.body).toEqual({ mfa_required: true, challenge_id: expect.stringMatching(/^[\w-]{43}$/) });
  expect(cookiesOf(response)).toEqual([]);
}

const statuses = (responses: ApiResponse[]) => responses.map(({ status }) => status);

describe('enrolment', () => {
  it('totp.replay: answers a secret that counts once a code confirms it, and is not shown again', async () => {
    const user = await ownUser(own);
    const { secret, qr_url } = expectOk(await user.post(`${auth}/totp/enroll`));
    const parsed = URI.parse(qr_url);
    expect(parsed).toBeInstanceOf(TOTP);
    expect(parsed).toMatchObject({ label: user.email, issuer: 'bulkhead', digits: 6 });
    expect(parsed.secret.base32).toBe(secret);
    expect((await login(user)).status).toBe(200);
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    const confirmed = expectOk(await user.post(`${auth}/totp/confirm`, { code }));
    expect(confirmed.recovery_codes).toHaveLength(10);
    expect(new Set(confirmed.recovery_codes).size).toBe(10);
    expect((await user.get(`${auth}/me`)).body.totp_enabled).toBe(true);
    expect((await user.post(`${auth}/totp/enroll`)).body.code).toBe('conflict');
    expect((await user.post(`${auth}/totp/confirm`, { code })).body.code).toBe('conflict');
  });

  it('counts with the secret that its code is of, and with none that has taken its place', async () => {
    const { id } = await ownUser(own);
    const pool = await openDatabaseOf(own.id);
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    const enable = (sealed: Buffer) =>
      pool.run((sql) => enableTotp(sql, id, { sealed, step: 1, now: new Date() }));
    for (const sealed of [first, second]) {
      expect(await pool.run((sql) => setPendingTotp(sql, id, sealed))).toBe(true);
    }
    expect([await enable(first), await enable(second), await enable(second)]).toEqual([false, true, false]);
    await pool.end();
  });

  it('does not take a wrong code, nor one without an enrolment', async () => {
    const user = await ownUser(own);
    expect((await user.post(`${auth}/totp/confirm`, { code: '123456' })).body.code).toBe('conflict');
    expect((await user.post(`${auth}/totp/disable`, { code: '123456' })).body.code).toBe('conflict');
    expectOk(await user.post(`${auth}/totp/enroll`));
    expect((await user.post(`${auth}/totp/confirm`, { code: 'nonsense' })).body.code).toBe('bad_credentials');
    expect((await login(user)).status).toBe(200);
    // Guesses count as those of a login do.
    const guesses = await Promise.all(
      ['1', '2', '3', '4', '5'].map((code) => user.post(`${auth}/totp/confirm`, { code })),
    );
    expect(statuses(guesses)).toEqual(Array(5).fill(401));
    expect((await user.post(`${auth}/totp/confirm`, { code: '6' })).body.code).toBe('too_many_requests');
    expect((await login(user)).status).toBe(429);
  });
});

describe('login', () => {
  it('asks for a code, and answers tokens and cookies for it', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const response = await responseTo(await challengeOf(user), authenticator.code());
    expect(expectOk(response).user).toMatchObject({ id: user.id, totp_enabled: true });
    expect(cookiesOf(response)).toHaveLength(2);
    expectOk(await as(response.body.access_token).get(`${auth}/me`));
  });

  it('totp.replay: takes no code twice, and none that is older than one that was used', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    expect((await responseTo(challenge, authenticator.used)).body.code).toBe('bad_credentials');
    const code = authenticator.code(1);
    expectOk(await responseTo(challenge, code));
    const next = await challengeOf(user);
    expect(statuses([await responseTo(next, code), await responseTo(next, authenticator.code())])).toEqual([
      401,
      401,
    ]);
    expect((await user.post(`${auth}/totp/disable`, { code })).status).toBe(401);
  });

  it('totp.replay: takes a code one step early or late, and no other', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    // Three steps, since one may begin between here and the server.
    for (const steps of [-3, 3]) {
      expect((await responseTo(challenge, authenticator.code(steps))).body.code).toBe('bad_credentials');
    }
    expectOk(await responseTo(challenge, authenticator.code()));
    expectOk(await responseTo(await challengeOf(user), authenticator.code(1)));
  });

  it('challenge.bound: does not take the code of another user', async () => {
    const [user, other] = [await ownUser(own), await ownUser(own)];
    const [authenticator, others] = [await enrol(user, auth), await enrol(other, auth)];
    const challenge = await challengeOf(user);
    for (const code of [others.code(), others.recoveryCodes[0] ?? '']) {
      expect((await responseTo(challenge, code)).body.code).toBe('bad_credentials');
    }
    expectOk(await responseTo(challenge, authenticator.code()));
  });

  it('challenge.bound: dies after five wrong codes', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    for (let failures = 0; failures < 5; failures++) {
      expect((await responseTo(challenge, wrongCode(authenticator))).status).toBe(401);
    }
    const right = await responseTo(challenge, authenticator.code());
    expect([right.status, right.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(right.headers.get('Retry-After'))).toBeGreaterThan(0);
  });

  it('challenge.bound: a wrong code does not burn the challenge, a right one does', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    expect((await responseTo(challenge, wrongCode(authenticator))).body.code).toBe('bad_credentials');
    expectOk(await responseTo(challenge, authenticator.code()));
    expect((await responseTo(challenge, authenticator.code(1))).body.code).toBe('bad_credentials');
  });

  it('challenge.bound: is good in its own workspace only', async () => {
    const other = await ownWorkspace();
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    const elsewhere = await responseTo(challenge, authenticator.code(), `${other.path}/auth`);
    expect(elsewhere.body.code).toBe('bad_credentials');
    expectOk(await responseTo(challenge, authenticator.code()));
  });

  it('auth.lockout: wrong codes count, and the right password in between forgives none', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    for (let failures = 0; failures < 5; failures++) {
      expect((await responseTo(await challengeOf(user), wrongCode(authenticator))).status).toBe(401);
    }
    expect((await login(user)).body.code).toBe('too_many_requests');
  });

  it('mfa.no-bypass: a mailed code and a new password do not replace the second factor', async () => {
    const user = await ownUser(own);
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    const authenticator = await enrol(user, auth);
    const { email } = user;
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const mailed = await as().post(`${auth}/otp/login`, { email, code: await secretFor(email) });
    expectChallenge(mailed);
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const reset = { token: await secretFor(email, 2), new_password: user.password };
    expect(expectOk(await as().post(`${auth}/password-reset/confirm`, reset))).toEqual({ ok: true });
    // The reset has ended what was under way.
    expect((await responseTo(mailed.body.challenge_id, authenticator.code())).status).toBe(401);
    expectOk(await responseTo(await challengeOf(user), authenticator.code()));
  });
});

describe('recovery codes', () => {
  it('stand in for a code at login, each once, however they are written', async () => {
    const user = await ownUser(own);
    const { recoveryCodes: [first = '', second = ''] } = await enrol(user, auth);
    expectOk(await responseTo(await challengeOf(user), first));
    expect((await responseTo(await challengeOf(user), first)).status).toBe(401);
    expectOk(await responseTo(await challengeOf(user), second.toUpperCase().replaceAll('-', ' ')));
  });
});

describe('otp.single-use-race', () => {
  it('lets one of 50 redemptions of a challenge at once win', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenge = await challengeOf(user);
    const code = authenticator.code();
    const responses = await Promise.all(Array.from({ length: 50 }, () => responseTo(challenge, code)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it.each(['a code', 'a recovery code'])('lets %s win one of several challenges at once', async (kind) => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const challenges = await Promise.all(Array.from({ length: 8 }, () => challengeOf(user)));
    const code = kind === 'a code' ? authenticator.code() : authenticator.recoveryCodes[0] ?? '';
    const responses = await Promise.all(challenges.map((challenge) => responseTo(challenge, code)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('the way back', () => {
  it('is a code of the user', async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const wrong = await user.post(`${auth}/totp/disable`, { code: wrongCode(authenticator) });
    expect(wrong.body.code).toBe('bad_credentials');
    expect(expectOk(await user.post(`${auth}/totp/disable`, { code: authenticator.code() }))).toEqual({
      ok: true,
    });
    expect((await login(user)).status).toBe(200);
    expect((await user.post(`${auth}/totp/confirm`, { code: authenticator.code(1) })).status).toBe(409);
  });

  it('session.revoke-all: is an admin, who ends all sessions with it', async () => {
    const user = await ownUser(own);
    await enrol(user, auth);
    expectOk(await as().post(`${auth}/otp/request`, { email: user.email }));
    const code = await secretFor(user.email);
    const remove = () => own.admin.delete(`${own.path}/users/${user.id}/totp`);
    expect(expectOk(await remove())).toEqual({ ok: true });
    expect((await remove()).body.code).toBe('not_found');
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    const refreshed = await as().post(`${auth}/users/refresh`, { refresh_token: user.refreshToken });
    expect(refreshed.status).toBe(401);
    expect((await as().post(`${auth}/otp/login`, { email: user.email, code })).status).toBe(401);
    expect((await login(user)).status).toBe(200);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=totp_`));
    const ofUser = items.filter(({ target }: { target: string }) => target === user.email);
    expect(ofUser.map(({ action }: { action: string }) => action)).toEqual(['totp_remove', 'totp_enable']);
  });
});
