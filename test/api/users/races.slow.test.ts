// Whatever works once, works once: 50 at the same time, 20 rounds.
import { describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

const rounds = 20;
const runners = 50;
const own = await ownWorkspace();
const auth = `${own.path}/auth`;

const post = (path: string, body: unknown) => as().post(`${auth}/${path}`, body);

async function challengeOf({ email, password }: OwnUser): Promise<string> {
  return expectOk(await post('users/login', { email, password })).challenge_id;
}

/** What one of the runners sends; each has a number. */
type Redeem = (runner: number) => Promise<ApiResponse>;

/** By the name of the item and of what is redeemed: how a round begins. */
const contests: Record<string, () => Promise<Redeem>> = {
  'refresh.rotation: a refresh token': async () => {
    const { refreshToken: refresh_token } = await ownUser(own);
    return () => post('users/refresh', { refresh_token });
  },
  'otp.single-use-race: a mailed code': async () => {
    // The runners that lose have sent a wrong code, and too many of a network are refused in that workspace.
    const { path } = await ownWorkspace();
    const email = freshEmail();
    expectOk(await as().post(`${path}/auth/otp/request`, { email }));
    const code = await secretFor(email);
    return () => as().post(`${path}/auth/otp/login`, { email, code });
  },
  'otp.single-use-race: a verification': async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(user.email);
    return () => user.post(`${auth}/verify-email/confirm`, { token });
  },
  'otp.single-use-race: a password reset': async () => {
    const { email } = await ownUser(own);
    expectOk(await post('password-reset/request', { email }));
    const token = await secretFor(email);
    return (runner) => post('password-reset/confirm', { token, new_password: `password number ${runner}` });
  },
  'otp.single-use-race: a change of the address': async () => {
    const user = await ownUser(own);
    const new_email = freshEmail();
    const { password } = user;
    expectOk(await user.post(`${auth}/email-change/request`, { new_email, password }));
    const token = await secretFor(new_email);
    return () => user.post(`${auth}/email-change/confirm`, { token });
  },
  // Each runner comes with something that would be right by itself.
  'challenge.bound: an MFA challenge': async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const codes = [authenticator.code(), ...authenticator.recoveryCodes];
    const challenge_id = await challengeOf(user);
    return (runner) => post('users/login/totp', { challenge_id, code: codes[runner % codes.length] });
  },
  'totp.replay: a TOTP code': async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    return await atSeveralLogins(user, authenticator.code());
  },
  'otp.single-use-race: a recovery code': async () => {
    const user = await ownUser(own);
    const { recoveryCodes: [code = ''] } = await enrol(user, auth);
    return await atSeveralLogins(user, code);
  },
};

/** The same code at five logins that are under way at once. */
async function atSeveralLogins(user: OwnUser, code: string): Promise<Redeem> {
  const challenges = await Promise.all(Array.from({ length: 5 }, () => challengeOf(user)));
  return (runner) => post('users/login/totp', { challenge_id: challenges[runner % challenges.length], code });
}

async function race(redeem: Redeem): Promise<ApiResponse[]> {
  return await Promise.all(Array.from({ length: runners }, (_, runner) => redeem(runner)));
}

const winnersOf = (responses: ApiResponse[]) => responses.filter(({ status }) => status === 200);

describe('of 50 at once', () => {
  it.each(Object.entries(contests))('exactly one wins, 20 times: %s', async (_what, prepare) => {
    const winners: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const responses = await race(await prepare());
      winners.push(winnersOf(responses).length);
      // 503: so many passwords may be more than the server hashes at once.
      expect(responses.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
    }
    expect(winners).toEqual(Array(rounds).fill(1));
  }, 300_000);

  it('refresh.reuse-detection: nobody keeps a session, for one of the others may be the thief', async () => {
    for (let round = 0; round < rounds; round++) {
      const { refreshToken: refresh_token } = await ownUser(own);
      const [winner] = winnersOf(await race(() => post('users/refresh', { refresh_token })));
      const { refresh_token: next } = expectOk(winner ?? expect.fail('nobody has won'));
      expect((await post('users/refresh', { refresh_token: next })).status).toBe(401);
    }
  }, 120_000);
});
