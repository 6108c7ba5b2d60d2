// A provider that is changed or removed while it is being asked who somebody is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { type CodeHost, startCodeHost } from '../../../harness/code-host.ts';
import { expectError } from '../../../harness/expectations.ts';
import { authorize, redeem } from '../../../harness/oauth.ts';
import { freshEmail } from '../../../harness/users.ts';
import { howManyWait, responseMeanwhile } from '../../../harness/waiting.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { lockAccount } from '../../../../storage/workspace/oauth-links.ts';

let own: OwnWorkspace;
let host: CodeHost;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
});
afterAll(() => host.close());

const pathOf = () => `${own.path}/auth/oauth/providers/github`;

async function setUp(more: { client_id?: string } = {}): Promise<ApiResponse> {
  const { clientId: client_id, clientSecret: client_secret, config } = host;
  return await own.admin.put(pathOf(), { client_id, client_secret, config, ...more });
}

/** Somebody comes back from the provider, which is changed before it says who that is. */
async function signInMeanwhile(email: string, change: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const emails = [{ email, primary: true, verified: true }];
  const back = host.enter(expectOk(await authorize(own, 'github')).authorize_url, { id: 1, emails });
  host.spoil('/user/emails', (_request, response) => {
    const respond = (status: number) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(emails));
    };
    change().then(({ status }) => respond(status), () => respond(500));
  });
  return await redeem(own, 'github', back);
}

describe('oauth.state', () => {
  it.each([
    ['removed', () => own.admin.delete(pathOf())],
    ['another client there', () => setUp({ client_id: 'another' })],
    ['set up anew as it was', () => setUp()],
  ])('oauth.state: lets nobody in by a provider that is %s while it answers', async (_what, change) => {
    expectOk(await setUp());
    const email = freshEmail();
    expectError(await signInMeanwhile(email, change), 400, 'validation');
    const { total_items } = expectOk(await own.admin.get(`${own.path}/users?q=${email}`));
    expect(total_items).toBe(0);
  });

  it('oauth.state: sends nobody to a provider that is removed at that moment', async () => {
    expectOk(await setUp());
    const pool = await openDatabaseOf(own.id);
    const response = await responseMeanwhile(
      pool,
      (sql) => sql`delete from workspace.oauth_providers where provider = 'github'`,
      () => authorize(own, 'github'),
    ).finally(() => pool.end());
    expectError(response, 404, 'not_found');
  });

  it('oauth.state: has a change of the provider wait for a sign-in that is nearly done', async () => {
    for (;;) {
      const { signedIn, changed, hasWaited } = await changeDuringSignIn();
      // Where all connections were taken the change stood behind the sign-in, at the same one, until that had waited too long.
      if (!hasWaited && signedIn.status === 503) continue;
      expect(hasWaited).toBe(true);
      expectOk(signedIn);
      expectOk(changed);
      return;
    }
  });
});

/** A change of the provider while somebody who comes back from it waits for the last thing that a sign-in takes. */
async function changeDuringSignIn(): Promise<
  { signedIn: ApiResponse; changed: ApiResponse; hasWaited: boolean }
> {
  expectOk(await setUp());
  const emails = [{ email: freshEmail(), primary: true, verified: true }];
  host.spoil('/user/emails', (_request, response) => void response.end(JSON.stringify(emails)));
  const back = host.enter(expectOk(await authorize(own, 'github')).authorize_url, { id: 2, emails });
  const account = { provider: 'github', source: host.config.userinfo_url, subject: '2' };
  const pool = await openDatabaseOf(own.id);
  const { signingIn, changing, hasWaited } = await pool.transaction(async (sql) => {
    await lockAccount(sql, account);
    const signingIn = redeem(own, 'github', back);
    while (await howManyWait(sql) < 1);
    let isChanged = false;
    const changing = setUp({ client_id: 'another' }).finally(() => isChanged = true);
    while (!isChanged && await howManyWait(sql) < 2);
    return { signingIn, changing, hasWaited: !isChanged };
  }).finally(() => pool.end());
  const [signedIn, changed] = await Promise.all([signingIn, changing]);
  return { signedIn, changed, hasWaited };
}
