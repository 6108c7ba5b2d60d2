// The quota of users, for those who come by a provider.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { signInBy } from '../../harness/oauth.ts';
import type { OpenIdPeer } from '../../harness/openid.ts';
import { peerWorkspace } from '../../harness/peer-workspace.ts';
import { freshEmail } from '../../harness/users.ts';

let own: OwnWorkspace;
let peer: OpenIdPeer;

beforeAll(async () => {
  ({ own, peer } = await peerWorkspace());
});
afterAll(() => peer.close());

function enter(login: string) {
  peer.know({ login, email: login, emailVerified: true });
  return signInBy(own, 'peer', { peer, login });
}

it('applies to a first sign-in, and to no later one', async () => {
  const [known, stranger] = [freshEmail(), freshEmail()];
  expectOk(await enter(known));
  const quota = { kind: 'range', min: 0, max: 1 };
  expectOk(await own.admin.put(`${own.path}/policies/quota.users`, quota));
  expectOk(await enter(known));
  expectError(await enter(stranger), 403, 'quota_exceeded');
  const { users } = expectOk(await own.admin.get(`${own.path}/usage`));
  expect(users).toBe(1);
  expectOk(await own.admin.delete(`${own.path}/policies/quota.users`));
  expectOk(await enter(stranger));
});
