// Setting providers up: what is filled in, what is kept, what is never shown.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { authorize } from '../../../harness/oauth.ts';

const secret = 'the secret that nobody may read';
const config = {
  auth_url: 'https://idp.example/authorize',
  token_url: 'https://idp.example/token',
  userinfo_url: 'https://idp.example/userinfo',
};
let own: OwnWorkspace;
let path: string;

beforeAll(async () => {
  own = await ownWorkspace();
  path = `${own.path}/auth/oauth/providers`;
});

const put = (name: string, body: unknown) => own.admin.put(`${path}/${name}`, body);

describe('a provider', () => {
  it('is set up, read, listed, changed and removed', async () => {
    const body = {
      client_id: 'an id',
      client_secret: secret,
      config: { ...config, scopes: ['openid', 'email'] },
    };
    const shown = {
      provider: 'corporate',
      client_id: 'an id',
      has_secret: true,
      config: {
        ...config,
        issuer: null,
        scopes: ['openid', 'email'],
        redirect_uris: null,
        token_auth_method: 'client_secret_post',
      },
      preset: null,
    };
    expect(expectOk(await put('corporate', body))).toEqual(shown);
    expect(expectOk(await own.admin.get(`${path}/corporate`))).toEqual(shown);
    expect(expectOk(await own.admin.get(path))).toEqual({
      items: [shown],
      page: 1,
      per_page: 30,
      total_items: 1,
      total_pages: 1,
    });
    const changed = expectOk(await put('corporate', { client_id: 'another id', config }));
    expect(changed).toMatchObject({ client_id: 'another id', has_secret: true });
    expect(expectOk(await own.admin.delete(`${path}/corporate`))).toEqual({ ok: true });
    expect((await own.admin.get(`${path}/corporate`)).body.code).toBe('not_found');
    expect((await own.admin.delete(`${path}/corporate`)).body.code).toBe('not_found');
  });

  it('is on the page that its name comes to', async () => {
    const other = await ownWorkspace();
    const all = `${other.path}/auth/oauth/providers`;
    for (const name of ['c', 'a', 'x'.repeat(40), 'b']) {
      expectOk(await other.admin.put(`${all}/${name}`, { client_id: 'x', config }));
    }
    const { items, total_items } = expectOk(await other.admin.get(`${all}?per_page=2&page=2`));
    const names = items.map(({ provider }: { provider: string }) => provider);
    expect([names, total_items]).toEqual([['c', 'x'.repeat(40)], 4]);
  });

  it('has the issuer of its preset where it is asked for ID tokens, and only there', async () => {
    const issuerOf = async (given: object) =>
      expectOk(await put('google', { client_id: 'x', config: given })).config.issuer;
    expect(await issuerOf({})).toBe('https://accounts.google.com');
    expect(await issuerOf({ scopes: ['email'] })).toBeNull();
    expect(await issuerOf({ token_url: config.token_url })).toBeNull();
    expect(await issuerOf({ issuer: null })).toBeNull();
    expectOk(await own.admin.delete(`${path}/google`));
  });

  it('belongs to its workspace', async () => {
    const other = await ownWorkspace();
    expectOk(await put('mine', { client_id: 'x', config }));
    const there = await other.admin.get(`${other.path}/auth/oauth/providers/mine`);
    expect(there.body.code).toBe('not_found');
    expect((await authorize(other, 'mine')).body.code).toBe('not_found');
  });

  it('never shows its secret, in no response and not in the audit log', async () => {
    const responses = [
      await put('silent', { client_id: 'x', client_secret: secret, config }),
      await put('silent', { client_id: 'x', client_secret: secret, config: { auth_url: 'nonsense' } }),
      await own.admin.get(`${path}/silent`),
      await own.admin.get(path),
      await authorize(own, 'silent'),
      await own.admin.get(`${own.path}/audit`),
    ];
    for (const { text } of responses) expect(text).not.toContain(secret);
  });

  it('is in the audit log when it changes', async () => {
    expectOk(await put('audited', { client_id: 'x', client_secret: secret, config }));
    expectOk(await put('audited', { client_id: 'y', config }));
    expectOk(await own.admin.delete(`${path}/audited`));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit`));
    const entries = items.filter(({ target }: { target: string }) => target === 'audited');
    expect(entries).toEqual([
      expect.objectContaining({
        action: 'provider_delete',
        details: expect.objectContaining({ from: expect.objectContaining({ client_id: 'y', ...config }) }),
      }),
      expect.objectContaining({
        action: 'provider_set',
        details: expect.objectContaining({
          client_id: 'y',
          secret_changed: false,
          from: expect.objectContaining({ client_id: 'x', ...config }),
        }),
      }),
      expect.objectContaining({
        action: 'provider_set',
        details: expect.objectContaining({ client_id: 'x', secret_changed: true, from: null, ...config }),
      }),
    ]);
  });

  it('has no secret when none was ever given', async () => {
    expect(expectOk(await put('public', { client_id: 'x', config }))).toMatchObject({ has_secret: false });
  });
});

describe('a preset', () => {
  const hosts = {
    google: ['accounts.google.com', 'oauth2.googleapis.com', 'openidconnect.googleapis.com'],
    github: ['github.com', 'github.com', 'api.github.com'],
    microsoft: ['login.microsoftonline.com', 'login.microsoftonline.com', 'graph.microsoft.com'],
  };

  it.each(Object.entries(hosts))('needs a client id and a secret only: %s', async (name, expected) => {
    const shown = expectOk(await put(name, { client_id: 'an id', client_secret: secret }));
    expect(shown.preset).toBe(name);
    const { auth_url, token_url, userinfo_url, scopes } = shown.config;
    expect([auth_url, token_url, userinfo_url].map((url) => new URL(url).hostname)).toEqual(expected);
    const { authorize_url } = expectOk(await authorize(own, name));
    expect(new URL(authorize_url).searchParams.get('scope')).toBe(scopes.join(' '));
    expect(authorize_url.startsWith(`${auth_url}?`)).toBe(true);
  });

  it('gives way to what is set', async () => {
    const shown = expectOk(await put('google', { client_id: 'x', config: { scopes: ['openid'] } }));
    expect(shown.config).toMatchObject({
      scopes: ['openid'],
      token_url: 'https://oauth2.googleapis.com/token',
    });
  });
});

describe('what cannot be set', () => {
  const rows: [string, string, unknown, string][] = [
    ['no client id', 'p', { config }, 'client_id: is required'],
    ['no URLs for a name that is no preset', 'p', { client_id: 'x' }, 'config.auth_url: is required'],
    [
      'a missing URL',
      'p',
      { client_id: 'x', config: { ...config, token_url: undefined } },
      'config.token_url: is required',
    ],
    [
      'an unknown member',
      'p',
      { client_id: 'x', config: { ...config, jwks_url: 'x' } },
      'config.jwks_url: unknown field',
    ],
    [
      'a secret that is not text',
      'p',
      { client_id: 'x', client_secret: 5, config },
      'client_secret: must be a string',
    ],
    [
      'an empty secret',
      'p',
      { client_id: 'x', client_secret: '', config },
      'client_secret: must not be empty',
    ],
    [
      'an issuer that is no URL',
      'p',
      { client_id: 'x', config: { ...config, issuer: 'idp' } },
      'config.issuer',
    ],
    ['an issuer without ID tokens', 'p', {
      client_id: 'x',
      config: { ...config, issuer: 'https://idp.example', scopes: ['email'] },
    }, 'config.issuer: needs the scope openid'],
    ['an issuer with a query', 'p', {
      client_id: 'x',
      config: { ...config, issuer: 'https://idp.example/?a=b' },
    }, 'config.issuer: must not have a query'],
    ['a URL with a fragment', 'p', {
      client_id: 'x',
      config: { ...config, userinfo_url: 'https://idp.example/me#x' },
    }, 'config.userinfo_url: must not have a fragment'],
    ['a name of 41 characters', 'x'.repeat(41), { client_id: 'x', config }, 'provider: must be'],
    ['no URL', 'p', { client_id: 'x', config: { ...config, auth_url: 'idp' } }, 'config.auth_url: must be'],
    [
      'a script',
      'p',
      { client_id: 'x', config: { ...config, auth_url: 'javascript:alert(1)' } },
      'config.auth_url',
    ],
    ['a password in a URL', 'p', {
      client_id: 'x',
      config: { ...config, token_url: 'https://a:b@idp.example/' },
    }, 'config.token_url'],
    [
      'a scope with a space',
      'p',
      { client_id: 'x', config: { ...config, scopes: ['a b'] } },
      'config.scopes.0',
    ],
    ['a redirect to a script', 'p', {
      client_id: 'x',
      config: { ...config, redirect_uris: ['javascript:x'] },
    }, 'config.redirect_uris'],
    ['a redirect with a fragment', 'p', {
      client_id: 'x',
      config: { ...config, redirect_uris: ['https://a.example/#x'] },
    }, 'config.redirect_uris'],
    ['a name with capitals', 'Google', { client_id: 'x', config }, 'provider: must be'],
    ['a name that is a route', 'providers', { client_id: 'x', config }, 'provider: must be'],
  ];

  it.each(rows)('%s', async (_what, name, body, message) => {
    const response = await put(name, body);
    expect([response.status, response.body.code]).toEqual([400, 'validation']);
    expect(response.body.message).toContain(message);
  });
});
