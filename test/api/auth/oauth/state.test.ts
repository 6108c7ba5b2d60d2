// A sign-in that is under way belongs to one workspace, provider and redirect URI, and is over after one try.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { type CodeHost, startCodeHost } from '../../../harness/code-host.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { authorize, redeem, redirectUri, useProvider } from '../../../harness/oauth.ts';
import { freshEmail } from '../../../harness/users.ts';

let own: OwnWorkspace;
let other: OwnWorkspace;
let host: CodeHost;
let nextId = 1;

beforeAll(async () => {
  [own, other, host] = await Promise.all([ownWorkspace(), ownWorkspace(), startCodeHost()]);
  await Promise.all([
    useProvider(own, 'github', host),
    useProvider(own, 'twin', host),
    useProvider(other, 'github', host),
  ]);
});
afterAll(() => host.close());

/** Somebody who has been at the provider. */
async function comeBack(
  name = 'github',
  { at = own, uri = redirectUri }: { at?: OwnWorkspace; uri?: string } = {},
): Promise<{ code: string; state: string }> {
  const { authorize_url } = expectOk(await authorize(at, name, uri));
  const emails = [{ email: freshEmail(), primary: true, verified: true }];
  return host.enter(authorize_url, { id: nextId++, emails });
}

function expectRefused(response: ApiResponse): void {
  expect([response.status, response.body.code]).toEqual([400, 'validation']);
}

describe('oauth.state', () => {
  it('oauth.state: is refused the second time', async () => {
    const back = await comeBack();
    expectOk(await redeem(own, 'github', back));
    expectRefused(await redeem(own, 'github', back));
  });

  it('oauth.state: is used up by a code that is wrong', async () => {
    const { code, state } = await comeBack();
    expect((await redeem(own, 'github', { code: 'wrong', state })).status).toBe(401);
    expectRefused(await redeem(own, 'github', { code, state }));
  });

  it.each(['', 'made-up', 'A'.repeat(43)])(
    'oauth.state: is refused when it is made up: %j',
    async (state) => {
      expectRefused(await redeem(own, 'github', { code: 'x', state }));
    },
  );

  it('oauth.state: of another workspace is refused', async () => {
    const back = await comeBack();
    expectRefused(await redeem(other, 'github', back));
    expectOk(await redeem(own, 'github', back));
  });

  it('oauth.state: of another provider is refused', async () => {
    const back = await comeBack();
    expectRefused(await redeem(own, 'twin', back));
  });

  it('oauth.state: with another redirect URI is refused, with the same or none it is good', async () => {
    const back = await comeBack();
    expectRefused(await redeem(own, 'github', { ...back, redirect_uri: `${redirectUri}/` }));
    expectOk(await redeem(own, 'github', { ...back, redirect_uri: redirectUri }));
    expect(host.exchanges.at(-1)?.get('redirect_uri')).toBe(redirectUri);
  });

  it('oauth.state: is refused after ten minutes', async () => {
    const back = await comeBack();
    const pool = await openDatabaseOf(own.id);
    try {
      const [row] = await pool.run((sql) =>
        sql<{ seconds: number }[]>`
          select extract(epoch from expires_at - created_at)::int as seconds from workspace.oauth_states
          where used_at is null order by created_at desc limit 1`
      );
      expect(row?.seconds).toBe(600);
      await pool.run((sql) =>
        sql`update workspace.oauth_states set expires_at = now() - interval '1 second'`
      );
      expectRefused(await redeem(own, 'github', back));
      // The next one clears up.
      await comeBack();
      const left = await pool.run((sql) => sql`select from workspace.oauth_states where expires_at < now()`);
      expect(left).toHaveLength(0);
    } finally {
      await pool.end();
    }
  });

  it('oauth.state: is refused once the provider has been changed or removed', async () => {
    await useProvider(own, 'changing', host);
    const back = await comeBack('changing');
    await useProvider(own, 'changing', host);
    expectRefused(await redeem(own, 'changing', back));
    const again = await comeBack('changing');
    expectOk(await own.admin.delete(`${own.path}/auth/oauth/providers/changing`));
    expect((await redeem(own, 'changing', again)).status).toBe(404);
    await useProvider(own, 'changing', host);
    expectRefused(await redeem(own, 'changing', again));
  });

  it('oauth.state: is stored as a hash', async () => {
    const { state } = await comeBack();
    const pool = await openDatabaseOf(own.id);
    const rows = await pool.run((sql) =>
      sql`select to_jsonb(oauth_states)::text as row from workspace.oauth_states`
    )
      .finally(() => pool.end());
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(state);
  });

  it('oauth.state: comes with the verifier, which the provider has checked', async () => {
    expectOk(await redeem(own, 'github', await comeBack()));
    expect(host.exchanges.at(-1)?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
    expect(host.exchanges.at(-1)?.get('grant_type')).toBe('authorization_code');
  });
});

describe('a redirect URI', () => {
  const listed = ['https://app.example/callback', 'com.example.app:/callback'];
  const near = [
    'https://app.example/callback/',
    'https://app.example/callback?x=1',
    'https://app.example/callbac',
    'https://app.example/callback/../evil',
    'https://APP.example/callback',
    'https://app.example:443/callback',
    'https://app.example.evil.example/callback',
    'https://user@app.example/callback',
    'https://app.example\\@evil.example/callback',
    'http://app.example/callback',
    'https://xn--pp-xka.example/callback',
    'https://аpp.example/callback',
  ];

  beforeAll(() =>
    useProvider(other, 'github', { ...host, config: { ...host.config, redirect_uris: listed } })
  );

  it.each(listed)('oauth.redirect-exact: %s is good where it is listed', async (uri) => {
    expectOk(await redeem(other, 'github', await comeBack('github', { at: other, uri })));
  });

  it.each(near)('oauth.redirect-exact: %s is not', async (uri) => {
    expectRefused(await authorize(other, 'github', uri));
  });

  it('oauth.redirect-exact: is looked at in the callback as well', async () => {
    const [uri = ''] = listed;
    const back = await comeBack('github', { at: other, uri });
    expectRefused(await redeem(other, 'github', { ...back, redirect_uri: 'https://evil.example/' }));
  });

  it('oauth.redirect-exact: is held against the list once more, whatever it was when the user set out', async () => {
    const back = await comeBack('github', { at: other, uri: listed[0] ?? '' });
    const pool = await openDatabaseOf(other.id);
    await pool.run((sql) => sql`update workspace.oauth_states set redirect_uri = 'https://evil.example/'`)
      .finally(() => pool.end());
    const exchanges = host.exchanges.length;
    const response = await redeem(other, 'github', { ...back, redirect_uri: 'https://evil.example/' });
    expect(response.body.message).toBe('redirect_uri: is not one of those listed');
    expect(host.exchanges).toHaveLength(exchanges);
  });

  it.each([
    'https://app.example/callback',
    'http://localhost:3000/',
    'http://127.0.0.1:5173/a?b=c',
    'http://[::1]:80/x',
    'https://app.example',
  ])(
    'is any web page while none are listed: %s',
    async (uri) => {
      expectOk(await authorize(own, 'github', uri));
    },
  );

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '/callback',
    '//app.example/callback',
    'https://user:password@app.example/',
    'https://app.example/#fragment',
    'https://app.example\\@evil.example/',
    'https:app.example',
    'https:///app.example/',
    'https://аpp.example/',
    'https://app.example/ x',
    'https://app.example/\n',
    'ftp://app.example/',
    'com.example.app:/callback',
  ])('oauth.redirect-exact: is never %j unless it is listed', async (uri) => {
    expectRefused(await authorize(own, 'github', uri));
  });

  it('is required', async () => {
    expectRefused(await as().get(`${own.path}/auth/oauth/github/authorize`));
  });
});
