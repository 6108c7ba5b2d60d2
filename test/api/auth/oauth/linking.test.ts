// Whose account a provider's word opens, and whose it does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, patiently } from '../../../harness/api.ts';
import { enrol } from '../../../harness/authenticator.ts';
import { type CodeHost, type HostedEmail, startCodeHost } from '../../../harness/code-host.ts';
import { secretFor } from '../../../harness/mailbox.ts';
import { authorize, redeem, redirectUri, signInBy, useProvider } from '../../../harness/oauth.ts';
import { type OpenIdPeer, startOpenIdPeer } from '../../../harness/openid.ts';
import { peerWorkspace } from '../../../harness/peer-workspace.ts';
import { freshEmail, ownUser } from '../../../harness/users.ts';

let own: OwnWorkspace;
let peer: OpenIdPeer;
let second: OpenIdPeer;
let host: CodeHost;
let auth: string;

beforeAll(async () => {
  [{ own, peer }, second, host] = await Promise.all([
    peerWorkspace(),
    startOpenIdPeer({ redirectUris: [redirectUri] }),
    startCodeHost(),
  ]);
  auth = `${own.path}/auth`;
  await useProvider(own, 'second', second);
  await useProvider(own, 'github', host);
});
afterAll(() => Promise.all([peer.close(), second.close(), host.close()]));

/** A sign-in with an address that the provider says this about. */
async function enter(
  name: 'peer' | 'second',
  { login, ...account }: { login: string; email: string; emailVerified?: boolean },
): Promise<ApiResponse> {
  const at = { peer: name === 'peer' ? peer : second, login };
  at.peer.know({ login, ...account });
  return await signInBy(own, name, at);
}

describe('an address that the provider does not vouch for', () => {
  it.each([['false', { emailVerified: false }], ['not said', {}]])(
    'oauth.unverified-email: never opens the account of a user (%s)',
    async (_what, word) => {
      const user = await ownUser(own);
      expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
      const response = await enter('peer', { login: `liar ${user.email}`, email: user.email, ...word });
      expect([response.status, response.body.code]).toEqual([403, 'forbidden']);
      expect(expectOk(await user.get(`${auth}/me`)).oauth_providers).toEqual([]);
      const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=login_failed`));
      expect(items).toContainEqual(
        expect.objectContaining({ action: 'login_failed', actor: user.email }),
      );
    },
  );

  it('oauth.unverified-email: never opens that of a user who has not verified it either', async () => {
    const user = await ownUser(own);
    const response = await enter('peer', {
      login: `liar ${user.email}`,
      email: user.email,
      emailVerified: false,
    });
    expect(response.body.code).toBe('forbidden');
    expectOk(await as().post(`${auth}/users/login`, { email: user.email, password: user.password }));
  });

  it('makes a user who is not verified, when nobody has it', async () => {
    const email = freshEmail();
    const login = `new ${email}`;
    const { user } = expectOk(await enter('peer', { login, email, emailVerified: false }));
    expect(user).toMatchObject({ email, verified: false, oauth_providers: ['peer'] });
    const again = expectOk(await enter('peer', { login, email, emailVerified: false }));
    expect(again.user.id).toBe(user.id);
  });

  it.each(['', 'not an address', 'a@b@c', `${'x'.repeat(250)}@example.com`])(
    'oauth.ssrf: is refused when it is none (%j), and the audit log has nothing that the provider said',
    async (email) => {
      const login = `INTERNAL-SECRET-${email.length}`;
      const response = await enter('peer', { login, email, emailVerified: true });
      expect([response.status, response.body.code]).toEqual([403, 'forbidden']);
      const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=login_failed`));
      expect(items).toContainEqual(expect.objectContaining({ actor: 'peer', target: 'peer' }));
      expect(JSON.stringify(items)).not.toContain('INTERNAL-SECRET');
    },
  );
});

describe('an account that was made before the owner of the address came', () => {
  it('oauth.prehijack: loses password, second factor, sessions and pending tokens', async () => {
    const attacker = await ownUser(own);
    const { email, password } = attacker;
    const authenticator = await enrol(attacker, auth);
    expectOk(await as().post(`${auth}/password-reset/request`, { email }));
    const token = await secretFor(email);
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const mailed = await secretFor(email, 2);
    const { challenge_id } = expectOk(await as().post(`${auth}/users/login`, { email, password }));

    const owner = expectOk(await enter('peer', { login: `owner ${email}`, email, emailVerified: true }));
    expect(owner.user).toMatchObject({
      id: attacker.id,
      verified: true,
      has_password: false,
      totp_enabled: false,
      oauth_providers: ['peer'],
    });
    expectOk(await as(owner.access_token).get(`${auth}/me`));

    const refresh_token = attacker.refreshToken;
    const [code] = authenticator.recoveryCodes;
    const attempts = [
      attacker.get(`${auth}/me`),
      as().post(`${auth}/users/refresh`, { refresh_token }),
      as().post(`${auth}/users/login`, { email, password }),
      as().post(`${auth}/users/login/totp`, { challenge_id, code: authenticator.code() }),
      as().post(`${auth}/users/login/totp`, { challenge_id, code }),
      as().post(`${auth}/password-reset/confirm`, { token, new_password: 'the attacker again' }),
      as().post(`${auth}/otp/login`, { email, code: mailed }),
    ];
    const codes = (await Promise.all(attempts)).map(({ body }) => body.code);
    expect(codes).toEqual([
      'unauthorized',
      'unauthorized',
      'bad_credentials',
      'bad_credentials',
      'bad_credentials',
      'validation',
      'bad_credentials',
    ]);
  });

  it('oauth.prehijack: loses the links to other providers', async () => {
    const email = freshEmail();
    const attacker = { login: `attacker ${email}`, email, emailVerified: false };
    const { user } = expectOk(await enter('peer', attacker));
    const owner = expectOk(await enter('second', { login: `owner ${email}`, email, emailVerified: true }));
    expect(owner.user).toMatchObject({ id: user.id, verified: true, oauth_providers: ['second'] });
    expect((await enter('peer', attacker)).body.code).toBe('forbidden');
  });

  it('oauth.prehijack: loses them to the owner who comes by a mailed code as well', async () => {
    const email = freshEmail();
    const attacker = { login: `attacker ${email}`, email, emailVerified: false };
    expectOk(await enter('peer', attacker));
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const owner = await as().post(`${auth}/otp/login`, { email, code: await secretFor(email) });
    expect(expectOk(owner).user).toMatchObject({ verified: true, oauth_providers: [] });
    expect((await enter('peer', attacker)).body.code).toBe('forbidden');
  });
});

describe('an account whose provider tells the address of somebody else by now', () => {
  it('auth.lockout: signs in as its own user, and takes back no wrong guess at the other one', async () => {
    const email = freshEmail();
    const login = `moved ${email}`;
    expectOk(await enter('peer', { login, email, emailVerified: true }));
    const other = await ownUser(own);
    const guess = async (password: string) => {
      const response = await patiently(() =>
        as().post(`${auth}/users/login`, { email: other.email, password })
      );
      return response.status;
    };
    for (let n = 0; n < 4; n++) expect(await guess(`wrong ${n}`)).toBe(401);
    const { user } = expectOk(await enter('peer', { login, email: other.email, emailVerified: false }));
    expect(user.email).toBe(email);
    expect([await guess('wrong 5'), await guess(other.password)]).toEqual([401, 429]);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=login_success&actor=${email}`));
    expect(items).toHaveLength(2);
  });
});

describe('several accounts', () => {
  it('oauth.unverified-email: are told apart by their provider, whatever their subjects', async () => {
    const login = 'the same subject';
    const one = expectOk(await enter('peer', { login, email: freshEmail(), emailVerified: true }));
    const other = expectOk(await enter('second', { login, email: freshEmail(), emailVerified: true }));
    expect(other.user.id).not.toBe(one.user.id);
  });

  it('may belong to one user', async () => {
    const email = freshEmail();
    expectOk(await enter('peer', { login: `a ${email}`, email, emailVerified: true }));
    for (const login of [`b ${email}`, `c ${email}`]) {
      const { user } = expectOk(await enter('second', { login, email, emailVerified: true }));
      expect(user.oauth_providers).toEqual(['peer', 'second']);
    }
  });

  it('oauth.unverified-email: mean nothing any more once the provider of that name is another one', async () => {
    const login = 'subject of a name';
    await useProvider(own, 'moved', peer);
    peer.know({ login, email: freshEmail(), emailVerified: true });
    const before = expectOk(await signInBy(own, 'moved', { peer, login }));
    await useProvider(own, 'moved', second);
    second.know({ login, email: freshEmail(), emailVerified: true });
    const after = expectOk(await signInBy(own, 'moved', { peer: second, login }));
    expect(after.user.id).not.toBe(before.user.id);
  });
});

describe('github', () => {
  let nextId = 1;

  async function enterGithub(emails: HostedEmail[], id = nextId++): Promise<ApiResponse> {
    const { authorize_url } = expectOk(await authorize(own, 'github'));
    return await redeem(own, 'github', host.enter(authorize_url, { id, emails }));
  }

  it('is known by the primary address when it is verified', async () => {
    const [email, other] = [freshEmail(), freshEmail()];
    const { user } = expectOk(
      await enterGithub([
        { email: other, primary: false, verified: true },
        { email, primary: true, verified: true },
      ]),
    );
    expect(user).toMatchObject({ email, verified: true, oauth_providers: ['github'] });
  });

  it('oauth.unverified-email: is refused when the primary address is not verified', async () => {
    const user = await ownUser(own);
    const response = await enterGithub([
      { email: user.email, primary: true, verified: false },
      { email: freshEmail(), primary: false, verified: true },
    ]);
    expect([response.status, response.body.code]).toEqual([403, 'forbidden']);
  });

  it('is known by its number later, whatever its addresses', async () => {
    const id = nextId++;
    const first = expectOk(await enterGithub([{ email: freshEmail(), primary: true, verified: true }], id));
    expect(expectOk(await enterGithub([], id)).user.id).toBe(first.user.id);
  });

  it('says with status 200 that it does not take a code, which is no sign-in', async () => {
    const { state } = expectOk(await authorize(own, 'github'));
    const response = await redeem(own, 'github', { code: 'made up', state });
    expect([response.status, response.body.code]).toEqual([401, 'bad_credentials']);
  });
});
