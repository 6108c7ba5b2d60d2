// A provider that is changed or removed while it is being asked who somebody is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { type CodeHost, startCodeHost } from '../../../harness/code-host.ts';
import { expectError } from '../../../harness/expectations.ts';
import { authorize, redeem } from '../../../harness/oauth.ts';
import { freshEmail } from '../../../harness/users.ts';

let own: OwnWorkspace;
let host: CodeHost;

beforeAll(async () => {
  [own, host] = await Promise.all([ownWorkspace(), startCodeHost()]);
});
afterAll(() => host.close());

const pathOf = () => `${own.path}/auth/oauth/providers/github`;

async function setUp(more: { client_id?: string } = {}): Promise<Answer> {
  const { clientId: client_id, clientSecret: client_secret, config } = host;
  return await own.admin.put(pathOf(), { client_id, client_secret, config, ...more });
}

/** Somebody comes back from the provider, which is changed before it says who that is. */
async function signInMeanwhile(email: string, change: () => Promise<Answer>): Promise<Answer> {
  const emails = [{ email, primary: true, verified: true }];
  const back = host.enter(expectOk(await authorize(own, 'github')).authorize_url, { id: 1, emails });
  host.spoil('/user/emails', (_request, response) => {
    const answer = (status: number) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(emails));
    };
    change().then(({ status }) => answer(status), () => answer(500));
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
});
