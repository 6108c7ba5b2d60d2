// What is believed of what a provider says about somebody.
import { describe, expect, it } from 'vitest';
import { readProfile } from '../../../../api/auth/oauth/profile.ts';
import type { EgressRequest, EgressResponse } from '../../../../api/egress/client.ts';

/** Reads the profile that a provider gives by these answers, by their paths, of which one may be no success. */
async function profileOf(
  style: 'openid' | 'github',
  responses: Readonly<Record<string, unknown>>,
  { failing, userinfo = 'https://idp.example/user' }: { failing?: string; userinfo?: string } = {},
) {
  const send = ({ url }: EgressRequest): Promise<EgressResponse> =>
    Promise.resolve({
      url,
      status: url.pathname === failing ? 403 : 200,
      statusText: '',
      headers: [],
      body: Buffer.from(JSON.stringify(responses[url.pathname])),
    });
  const egress = {
    send,
    open: () => expect.fail('opened'),
    closePort: () => undefined,
    objection: () => undefined,
    close: async () => {},
  };
  const deps = { egress, observe: () => undefined };
  return await readProfile({ deps, workspace: 'w', provider: 'p' }, { url: userinfo, token: 't', style });
}

const openid = (value: unknown) => profileOf('openid', { '/user': value });

describe('a subject', () => {
  it.each([['a text', 'x'.repeat(255), 'x'.repeat(255)], ['a number', 7, '7']])(
    'may be %s',
    async (_what, sub, subject) => {
      expect(await openid({ sub })).toEqual({ subject, email: undefined, isVerified: false });
    },
  );

  it('is what OpenID Connect says, where there is an older one too', async () => {
    expect(await openid({ id: 7, sub: 'x' })).toMatchObject({ subject: 'x' });
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['too long', 'x'.repeat(256)],
    ['a number that is not exact', 2 ** 53],
    ['neither text nor number', { toString: 'x' }],
    ['one that cannot be stored', 'a\0b'],
    ['half a character', '\ud800'],
  ])('is not %s', async (_what, sub) => {
    await expect(openid({ sub })).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a provider', () => {
  const responses = {
    '/user': { sub: 'x', id: 7, email: 'a@example.com', email_verified: true },
    '/user/emails': [{ email: 'a@example.com', verified: true, primary: true }],
  };

  it.each([['openid', '/user'], ['github', '/user'], ['github', '/user/emails']] as const)(
    'in the style of %s that refuses %s is no help, whatever it says',
    async (style, failing) => {
      await expect(profileOf(style, responses, { failing })).rejects.toMatchObject({ code: 'unavailable' });
    },
  );

  it('is asked for addresses below the user, with one slash', async () => {
    const all = { ...responses, '/user/': responses['/user'] };
    const profile = await profileOf('github', all, { userinfo: 'https://idp.example/user/' });
    expect(profile.email).toBe('a@example.com');
  });
});

describe('oauth.unverified-email: an address', () => {
  it.each([[true, true], ['true', true], [false, false], ['false', false], [1, false], [undefined, false]])(
    'with the flag %j is vouched for: %j',
    async (email_verified, isVerified) => {
      const profile = await openid({ sub: 'x', email: ' Ada@Example.com', email_verified });
      expect(profile).toMatchObject({ isVerified });
    },
  );

  it.each<[string, unknown, string | undefined]>([
    ['the primary one', [{ email: 'b@example.com', verified: true }, {
      email: 'A@example.com',
      verified: true,
      primary: true,
    }], 'a@example.com'],
    ['none that is not verified', [{ email: 'a@example.com', verified: 'true', primary: true }], undefined],
    ['none where no one is primary', [{ email: 'a@example.com', verified: true }], undefined],
    ['none of what is no list', { email: 'a@example.com', verified: true, primary: true }, undefined],
    ['none that is no address', [{ email: 'a@', verified: true, primary: true }], undefined],
  ])('of GitHub is %s', async (_what, emails, email) => {
    const profile = await profileOf('github', { '/user': { id: 7 }, '/user/emails': emails });
    expect(profile).toEqual({ subject: '7', email, isVerified: true });
  });
});
