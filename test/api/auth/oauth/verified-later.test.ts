// A provider vouches for the address of its user some time after the first sign-in.
import { expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { signInBy } from '../../../harness/oauth.ts';
import { peerWorkspace } from '../../../harness/peer-workspace.ts';
import { freshEmail } from '../../../harness/users.ts';

it('oauth.verified-later: marks the address as verified from that sign-in on', async () => {
  const { own, peer } = await peerWorkspace();
  const [email, login] = [freshEmail(), 'somebody'];
  const enter = async (account: { email: string; emailVerified: boolean }) => {
    peer.know({ login, ...account });
    return expectOk(await signInBy(own, 'peer', { peer, login })).user;
  };
  try {
    const { id, verified } = await enter({ email, emailVerified: false });
    expect(verified).toBe(false);
    expect(await enter({ email: freshEmail(), emailVerified: true })).toMatchObject({
      id,
      email,
      verified: false,
    });
    expect(await enter({ email, emailVerified: true })).toMatchObject({ id, email, verified: true });
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=email_verify`));
    expect(items).toMatchObject([{ actor: email, details: { id, by: 'oauth', provider: 'peer' } }]);
  } finally {
    await peer.close();
  }
});
