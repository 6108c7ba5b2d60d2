// The example page of an account, in a real browser: what a person does, with a mailbox and an authenticator.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { type Browser, openBrowser, type Pages, servePages } from '../harness/browser.ts';
import { secretIn } from '../harness/mailbox.ts';
import { type OpenIdPeer, startOpenIdPeer } from '../harness/openid.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { setUp } from '../harness/set-up.ts';
import { type Provider, startProvider } from '../harness/smtp.ts';
import { freshEmail } from '../harness/users.ts';

const password = 'correct horse battery staple';
const period = 30_000;
let home: string;
let pages: Pages;
let post: Provider;
let peer: OpenIdPeer;
let server: TestServer;
let admin: Caller;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-account-'));
  [pages, post, browser] = await Promise.all([servePages(), startProvider(), openBrowser()]);
  const redirectUri = `${pages.origin}/auth/`;
  peer = await startOpenIdPeer({ redirectUris: [redirectUri] });
  server = await startServer({
    dataDir: join(home, 'data'),
    config: {
      egress: { private_hosts: 'loopback' },
      mail: { transport: 'smtp', smtp: { url: post.url } },
    },
  });
  admin = await setUp(server.url);
  expectOk(await admin.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await admin.put('/api/workspaces/acme/origins', { origins: [pages.origin] }));
  const { clientId: client_id, clientSecret: client_secret, config } = peer;
  const provider = { client_id, client_secret, config: { ...config, redirect_uris: [redirectUri] } };
  expectOk(await admin.put('/api/workspaces/acme/auth/oauth/providers/peer', provider));
}, 90_000);

beforeEach(async () => {
  page = await browser.open(`${pages.origin}/auth/`);
  await page.getByLabel('Server').fill(`http://localhost:${new URL(server.url).port}`);
});

afterEach(() => page.context().clearCookies());

afterAll(async () => {
  await browser.close();
  await server.stop();
  await Promise.all([post.close(), peer.close(), pages.stop()]);
  await rm(home, { recursive: true, force: true });
}, 60_000);

const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

async function me(members: Record<string, unknown>): Promise<void> {
  const read = async () => JSON.parse(await page.locator('#me').textContent() || '{}');
  await expect.poll(read, { timeout: 20_000 }).toMatchObject(members);
}

async function logIn(email: string): Promise<void> {
  await fill('Email', email);
  await fill('Password', password);
  await press('Log in');
}

/** Sets an authenticator up as the page says, and answers the recovery codes too. */
async function enrol(): Promise<{ code(steps: number): string; recovery: string[] }> {
  await press('Set up an authenticator');
  const secret = page.locator('#secret');
  await secret.filter({ hasText: 'otpauth://totp/' }).waitFor();
  const [base32 = ''] = (await secret.textContent() ?? '').split('\n');
  const totp = new TOTP({ secret: Secret.fromBase32(base32) });
  const code = (steps: number) => totp.generate({ timestamp: Date.now() + steps * period });
  // Good also if its time has passed when it arrives.
  await fill('First code', code(0));
  await press('Confirm');
  const recovery = page.locator('#recovery');
  await recovery.filter({ hasText: 'each works once' }).waitFor();
  return { code, recovery: (await recovery.textContent() ?? '').split('\n').slice(1) };
}

/** Away to the provider, through its login and consent, and back. */
async function signInAtPeer(login: string): Promise<void> {
  await fill('Provider', 'peer');
  await press('Sign in with it');
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${pages.origin}/auth/`);
}

describe('the page of an account', () => {
  it('shows what is wrong beside its input', async () => {
    await fill('Email', freshEmail());
    await fill('Password', 'short');
    await press('Register');
    await page.locator('#password + [role=alert]', { hasText: 'at least 8 characters' }).waitFor();
  });

  it('registers, verifies, sets up a second factor and asks for it on every way in', async () => {
    const email = freshEmail();
    await fill('Email', email);
    await fill('Password', password);
    await press('Register');
    await says('registered');
    await logIn(email);
    await me({ email, verified: false, totp_enabled: false });

    await press('Mail me a token');
    const [mail = ''] = await post.mailsTo(email);
    await fill('Token', secretIn(mail) ?? '');
    await press('Verify');
    await me({ verified: true });

    const authenticator = await enrol();
    expect(authenticator.recovery).toHaveLength(10);
    await me({ totp_enabled: true });
    await press('Log out');

    await logIn(email);
    await fill('Code', authenticator.code(1));
    await press('Continue');
    await me({ email, totp_enabled: true });
    await press('Log out');

    await logIn(email);
    await fill('Code', authenticator.recovery[0] ?? '');
    await press('Continue');
    await me({ email });
    await press('Log out');

    peer.know({ login: 'ada', email, emailVerified: true });
    await signInAtPeer('ada');
    await fill('Code', authenticator.recovery[1] ?? '');
    await press('Continue');
    await me({ email, oauth_providers: ['peer'] });
    expect(browser.failures).toEqual([]);
  }, 120_000);

  it('makes an account of somebody who comes from another provider', async () => {
    const email = freshEmail();
    peer.know({ login: 'eve', email, emailVerified: true });
    await page.context().clearCookies();
    await signInAtPeer('eve');
    await me({ email, verified: true, has_password: false });
  }, 120_000);

  it('says so when nothing is made of it', async () => {
    const email = freshEmail();
    expectOk(
      await as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', { email, password }),
    );
    peer.know({ login: 'mallory', email, emailVerified: false });
    await page.context().clearCookies();
    await signInAtPeer('mallory');
    await says('does not vouch for the email address');
  }, 120_000);

  it('oauth.state: takes nobody into the account of whoever made up the way back', async () => {
    const redirect = `${pages.origin}/auth/`;
    const path = `/api/workspaces/acme/auth/oauth/peer/authorize?redirect_uri=${
      encodeURIComponent(redirect)
    }`;
    const { authorize_url } = expectOk(await as(undefined, server.url).get(path));
    peer.know({ login: 'mallory', email: freshEmail(), emailVerified: true });
    const { url } = await peer.signIn(authorize_url, 'mallory');
    await page.context().clearCookies();
    await page.goto(url);
    await says('was not begun here');
    expect(await page.locator('#me').textContent()).toBe('');
  }, 120_000);

  it('stays logged in over a reload, by the refresh cookie, and not after a logout', async () => {
    const email = freshEmail();
    expectOk(
      await as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', { email, password }),
    );
    await logIn(email);
    await me({ email });
    await page.reload();
    await me({ email });
    await press('Log out');
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    const path = `http://localhost:${new URL(server.url).port}/_/auth`;
    const left = await page.context().cookies(path);
    // That of a known client outlives sessions, and gives no rights.
    expect(left.map(({ name }) => name)).toEqual(['svc_kc']);
  }, 120_000);

  it('is logged in in several tabs that are opened at once', async () => {
    const email = freshEmail();
    expectOk(
      await as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', { email, password }),
    );
    await logIn(email);
    await me({ email });
    const tabs = await Promise.all([1, 2, 3].map(() => page.context().newPage()));
    await Promise.all(tabs.map((tab) => tab.goto(`${pages.origin}/auth/`)));
    for (const tab of tabs) await tab.locator('#me').filter({ hasText: email }).waitFor();
  }, 120_000);

  it('keeps no response that the back button would bring back after a logout', async () => {
    const email = freshEmail();
    expectOk(
      await as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', { email, password }),
    );
    await logIn(email);
    await me({ email });
    await page.goto(`http://localhost:${new URL(server.url).port}/api/workspaces/acme/auth/sessions`);
    expect(await page.textContent('body')).toContain('last_used_at');
    await page.goto(`${pages.origin}/auth/`);
    await press('Log out');
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    await page.goBack();
    expect(await page.textContent('body')).toContain('unauthorized');
  }, 120_000);

  it('takes nothing before there is somebody to take it', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/request.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${pages.origin}/auth/`, { waitUntil: 'commit' });
    await page.getByRole('heading').waitFor();
    const button = page.getByRole('button', { name: 'Log in', exact: true });
    expect(await button.isVisible()).toBe(false);
    held.resolve();
    await button.waitFor();
  }, 120_000);

  it('says what the server says of a wrong password', async () => {
    await logIn(freshEmail());
    await says('the name or the password is wrong');
  });
});
