// Which `Host` means which app, or none: every name is read in one way.
import { describe, expect, it } from 'vitest';
import { Hosts } from '../../../api/http/hosts/hosts.ts';
import { routes } from '../../../api/routes/index.ts';
import { isForAppHosts } from '../../../api/contract/route-traits.ts';

const ids = (workspace: string, app: string, isPublic = true) => ({ workspace, app, isPublic });
const domain = 'apps.example.com';
const meaningOf = (host: string, hosts: readonly string[] = []) =>
  new Hosts({ hosts, app_domain: domain }).meaningOf(host);

describe('a name below http.app_domain', () => {
  it.each([
    'shop--acme.apps.example.com',
    'SHOP--Acme.Apps.Example.COM',
    'shop--acme.apps.example.com:443',
    'shop--acme.apps.example.com:8080',
    'shop--acme.apps.example.com.',
    'shop--acme.apps.example.com.:8080',
    'ｓhop--acme.apps.example.com',
  ])('is that of one app, as a browser reads it: %s', (host) => {
    expect(meaningOf(host)).toEqual(ids('acme', 'shop'));
  });

  it.each([
    ['my-shop--acme-2', ids('acme-2', 'my-shop')],
    ['my_shop--acme', ids('acme', 'my_shop')],
    ['0--1', ids('1', '0')],
    [`${'a'.repeat(31)}--${'b'.repeat(30)}`, ids('b'.repeat(30), 'a'.repeat(31))],
  ])('has the ids of both: %s', (label, meaning) => {
    expect(meaningOf(`${label}.${domain}`)).toEqual(meaning);
  });

  it.each([
    ['', 'the domain itself'],
    ['shop.', 'no workspace'],
    ['shop--.', 'an empty id'],
    ['--acme.', 'an empty id'],
    ['a--b--c.', 'two ways to read it'],
    ['shop---acme.', 'two ways to read it'],
    ['shop--acme-.', 'a hyphen at its end'],
    ['_shop--acme.', 'no id of an app'],
    ['x.shop--acme.', 'two labels'],
    ['xn--acme.', 'another script'],
    [`${'a'.repeat(32)}--${'b'.repeat(30)}.`, '64 characters'],
  ])('is that of no app: %s (%s)', (label) => {
    expect(meaningOf(`${label}${domain}`)).toBe('no_app');
  });

  it('is one of the server when http.hosts lists it', () => {
    expect(meaningOf('admin.apps.example.com', ['admin.apps.example.com'])).toBe('server');
    expect(meaningOf('shop--acme.apps.example.com', ['api.example.com'])).toEqual(ids('acme', 'shop'));
  });

  it('is not one that only ends like it', () => {
    expect(meaningOf('shop--acme.xapps.example.com')).toBe('server');
    expect(meaningOf('shop--acme.apps.example.com.evil.example', ['api.example.com'])).toBe('foreign');
  });
});

describe('a name below localhost', () => {
  it('is that of an app without any setting', () => {
    const hosts = new Hosts({ hosts: [], app_domain: '' });
    expect(hosts.meaningOf('shop--acme.localhost:8080')).toEqual(ids('acme', 'shop', false));
    expect(hosts.meaningOf('shop--acme--x.localhost')).toBe('no_app');
    expect(hosts.meaningOf('api.localhost:8080')).toBe('server');
    expect(hosts.meaningOf('localhost')).toBe('server');
  });

  it('is foreign where http.hosts lists no localhost', () => {
    expect(meaningOf('shop--acme.localhost', ['api.example.com'])).toBe('foreign');
    expect(meaningOf('shop--acme.localhost', ['localhost'])).toEqual(ids('acme', 'shop', false));
  });
});

it('the origin of an app has the API of the app and the sign-in of its users, and nothing else', () => {
  const others = routes.filter((route) =>
    isForAppHosts(route) && !route.path.startsWith('/api/workspaces/:workspace/apps/:app/')
  );
  expect(others.map(({ method, path }) => `${method} ${path}`)).toMatchInlineSnapshot(`
    [
      "GET /healthz",
      "GET /readyz",
      "POST /_/auth/refresh",
      "POST /_/auth/logout",
      "GET /api/workspaces/:workspace/auth/me",
      "DELETE /api/workspaces/:workspace/auth/me",
      "POST /api/workspaces/:workspace/auth/users/register",
      "POST /api/workspaces/:workspace/auth/users/login",
      "POST /api/workspaces/:workspace/auth/users/refresh",
      "POST /api/workspaces/:workspace/auth/verify-email/request",
      "POST /api/workspaces/:workspace/auth/verify-email/confirm",
      "POST /api/workspaces/:workspace/auth/password-reset/request",
      "POST /api/workspaces/:workspace/auth/password-reset/confirm",
      "POST /api/workspaces/:workspace/auth/otp/request",
      "POST /api/workspaces/:workspace/auth/otp/login",
      "POST /api/workspaces/:workspace/auth/users/login/totp",
      "POST /api/workspaces/:workspace/auth/totp/enroll",
      "POST /api/workspaces/:workspace/auth/totp/confirm",
      "POST /api/workspaces/:workspace/auth/totp/disable",
      "GET /api/workspaces/:workspace/auth/sessions",
      "DELETE /api/workspaces/:workspace/auth/sessions",
      "DELETE /api/workspaces/:workspace/auth/sessions/:id",
      "POST /api/workspaces/:workspace/auth/password",
      "POST /api/workspaces/:workspace/auth/email-change/request",
      "POST /api/workspaces/:workspace/auth/email-change/confirm",
      "GET /api/workspaces/:workspace/auth/oauth/:provider/authorize",
      "POST /api/workspaces/:workspace/auth/oauth/:provider/callback",
    ]
  `);
});
