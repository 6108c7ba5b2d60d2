// Tokens that were mailed, and the challenge of a login: each is good for what it was made for.
import { expect, it } from 'vitest';
import { as, expectOk, ownWorkspace } from '../../harness/api.ts';
import { enrol } from '../../harness/authenticator.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const own = await ownWorkspace();
const auth = `${own.path}/auth`;

it('a token is good for its own purpose alone, and still is once it was tried for others', async () => {
  const user = await ownUser(own);
  const { email, password } = user;
  const new_email = freshEmail();
  expectOk(await user.post(`${auth}/verify-email/request`));
  const verification = await secretFor(email);
  expectOk(await as().post(`${auth}/password-reset/request`, { email }));
  const reset = await secretFor(email, 2);
  expectOk(await user.post(`${auth}/email-change/request`, { new_email, password }));
  const change = await secretFor(new_email);
  const { recoveryCodes: [code = ''] } = await enrol(user, auth);
  const { challenge_id } = expectOk(await as().post(`${auth}/users/login`, { email, password }));
  const ways: Record<string, { token: string; with: (token: string) => object }> = {
    'users/login/totp': { token: challenge_id, with: (token) => ({ challenge_id: token, code }) },
    'verify-email/confirm': { token: verification, with: (token) => ({ token }) },
    'email-change/confirm': { token: change, with: (token) => ({ token }) },
    'password-reset/confirm': {
      token: reset,
      with: (token) => ({ token, new_password: 'another password' }),
    },
  };
  const redeem = async (way: string, token: string) =>
    (await user.post(`${auth}/${way}`, ways[way]?.with(token))).status;
  for (const way of Object.keys(ways)) {
    for (const [own, { token }] of Object.entries(ways)) {
      if (own === way) continue;
      expect([way, own, await redeem(way, token)]).toEqual([
        way,
        own,
        way === 'users/login/totp' ? 401 : 400,
      ]);
    }
  }
  for (const way of ['users/login/totp', 'verify-email/confirm', 'password-reset/confirm']) {
    expect([way, await redeem(way, ways[way]?.token ?? '')]).toEqual([way, 200]);
  }
});
