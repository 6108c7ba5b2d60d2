// Policy `auth.methods` is checked at every step of a sign-in: one that began before a method was switched off is not completed.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { type Authenticator, enrol } from '../../harness/authenticator.ts';
import { startCodeHost } from '../../harness/code-host.ts';
import { expectError } from '../../harness/expectations.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { authorize, redeem, useProvider } from '../../harness/oauth.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

/** Does `work` while the workspace, or what is at `path`, allows these ways in only. */
async function allowing(allowed: string[], work: () => Promise<void>, path = own.path): Promise<void> {
  const policy = `${path}/policies/auth.methods`;
  expectOk(await own.admin.put(policy, { kind: 'enum_set', allowed }));
  try {
    await work();
  } finally {
    expectOk(await own.admin.delete(policy));
  }
}

const login = ({ email, password }: OwnUser, app?: string) =>
  as().post(`${auth}/users/login`, { email, password, ...(app === undefined ? {} : { app }) });
const complete = (challenge_id: string, code: string) =>
  as().post(`${auth}/users/login/totp`, { challenge_id, code });

async function enrolled(): Promise<{ user: OwnUser; authenticator: Authenticator }> {
  const user = await ownUser(own);
  return { user, authenticator: await enrol(user, auth) };
}

describe('a challenge for the second factor', () => {
  it('is not completed once its method is switched off', async () => {
    const { user, authenticator } = await enrolled();
    const { challenge_id } = expectOk(await login(user));
    await allowing(['otp', 'oauth'], async () => {
      expectError(await complete(challenge_id, authenticator.code()), 403, 'forbidden');
    });
    expectOk(await complete(challenge_id, authenticator.code()));
  });

  it('of a mailed code is not stopped by switching passwords off, but by switching codes off', async () => {
    const { user: { id, email }, authenticator: { code } } = await enrolled();
    // Else the code would show the address to be somebody's for the first time, and drop the factor.
    expectOk(await own.admin.patch(`${own.path}/users/${id}/verify`, { verified: true }));
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const sent = { email, code: await secretFor(email) };
    const { challenge_id } = expectOk(await as().post(`${auth}/otp/login`, sent));
    await allowing(['password'], async () => {
      expectError(await complete(challenge_id, code()), 403, 'forbidden');
    });
    await allowing(['otp'], async () => {
      expectOk(await complete(challenge_id, code()));
    });
  });

  it('for an app is held to the policy of the app', async () => {
    const app = await own.app();
    const { user, authenticator } = await enrolled();
    const { challenge_id } = expectOk(await login(user, app.id));
    await allowing(['otp'], async () => {
      expectError(await complete(challenge_id, authenticator.code()), 403, 'forbidden');
      expectOk(await complete(expectOk(await login(user)).challenge_id, authenticator.code()));
    }, app.path);
    expectOk(await complete(challenge_id, authenticator.code(1)));
  });
});

describe('a mailed code', () => {
  it('is not redeemed once codes are switched off, and none is sent', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    await allowing(['password'], async () => {
      // A wrong one is not looked at, so that no number of them locks the user.
      for (const sent of [code, '000000', '000001', '000002', '000003', '000004']) {
        expectError(await as().post(`${auth}/otp/login`, { email, code: sent }), 403, 'forbidden');
      }
      expectError(await as().post(`${auth}/otp/request`, { email }), 403, 'forbidden');
    });
    expectOk(await as().post(`${auth}/otp/login`, { email, code }));
  });
});

describe('a password', () => {
  it('is not checked while passwords are switched off', async () => {
    const user = await ownUser(own);
    await allowing(['otp', 'oauth'], async () => {
      for (const password of ['a guess', user.password]) {
        expectError(await login({ ...user, password }), 403, 'forbidden');
      }
    });
  });
});

describe('a provider', () => {
  it('is not used while OAuth is switched off, and completes a sign-in when it is on again', async () => {
    const host = await startCodeHost();
    await useProvider(own, 'github', host);
    const emails = [{ email: freshEmail(), primary: true, verified: true }];
    const back = host.enter(expectOk(await authorize(own, 'github')).authorize_url, { id: 1, emails });
    await allowing(['password', 'otp'], async () => {
      expectError(await redeem(own, 'github', back), 403, 'forbidden');
      expectError(await authorize(own, 'github'), 403, 'forbidden');
    });
    expect(host.exchanges).toEqual([]);
    expectOk(await redeem(own, 'github', back));
    await host.close();
  });
});

describe('a new user', () => {
  it('registers by a password only while there are passwords', async () => {
    const body = { email: freshEmail(), password: 'a password' };
    await allowing(['otp', 'oauth'], async () => {
      expectError(await as().post(`${auth}/users/register`, body), 403, 'forbidden');
    });
    expectOk(await as().post(`${auth}/users/register`, body));
  });
});

describe('a new password', () => {
  it('is not set by mail while passwords are switched off, and no token for one is sent', async () => {
    const { email } = await ownUser(own);
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const token = await secretFor(email);
    const confirm = () =>
      as().post(`${auth}/password-reset/confirm`, { token, new_password: 'another password' });
    await allowing(['otp', 'oauth'], async () => {
      expectError(await confirm(), 403, 'forbidden');
      for (const address of [email, freshEmail()]) {
        const response = await as().post(`${auth}/password-reset/request`, { email: address });
        expectError(response, 403, 'forbidden');
      }
    });
    expectOk(await confirm());
  });
});
