// Whatever works once, works once: 50 at the same time, 20 rounds.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

const rounds = 20;
const runners = 50;
let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

async function challengeOf({ email, password }: OwnUser): Promise<string> {
  return expectOk(await as().post(`${auth}/users/login`, { email, password })).challenge_id;
}

/** By what is redeemed: how a round begins, and the request that all send. */
const contests: Record<string, () => Promise<() => Promise<Answer>>> = {
  'refresh token': async () => {
    const { refreshToken: refresh_token } = await ownUser(own);
    return () => as().post(`${auth}/users/refresh`, { refresh_token });
  },
  'mailed code': async () => {
    const email = freshEmail();
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    return () => as().post(`${auth}/otp/login`, { email, code });
  },
  'verification': async () => {
    const user = await ownUser(own);
    expectOk(await user.post(`${auth}/verify-email/request`));
    const token = await secretFor(user.email);
    return () => as().post(`${auth}/verify-email/confirm`, { token });
  },
  'MFA challenge and TOTP code': async () => {
    const user = await ownUser(own);
    const authenticator = await enrol(user, auth);
    const [challenge_id, code] = [await challengeOf(user), authenticator.code()];
    return () => as().post(`${auth}/users/login/totp`, { challenge_id, code });
  },
  'MFA challenge and recovery code': async () => {
    const user = await ownUser(own);
    const { recoveryCodes: [code] } = await enrol(user, auth);
    const challenge_id = await challengeOf(user);
    return () => as().post(`${auth}/users/login/totp`, { challenge_id, code });
  },
};

describe('otp.single-use-race', () => {
  it.each(Object.entries(contests))('lets exactly one win each time: %s', async (_what, prepare) => {
    const winners: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const redeem = await prepare();
      const answers = await Promise.all(Array.from({ length: runners }, redeem));
      winners.push(answers.filter(({ status }) => status === 200).length);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    }
    expect(winners).toEqual(Array(rounds).fill(1));
  }, 120_000);
});
