// The example page of an account, in a real browser: what a person does, with a mailbox and an authenticator.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { type Browser, openBrowser, type Pages, servePages } from '../harness/browser.ts';
import { secretIn } from '../harness/mailbox.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { type Provider, startProvider } from '../harness/smtp.ts';
import { freshEmail } from '../harness/users.ts';

const password = 'correct horse battery staple';
const period = 30_000;
let home: string;
let pages: Pages;
let post: Provider;
let server: TestServer;
let admin: Caller;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-account-'));
  [pages, post, browser] = await Promise.all([servePages(), startProvider(), openBrowser()]);
  server = await startServer({
    dataDir: join(home, 'data'),
    config: {
      'cors.allowed_origins': [pages.origin],
      mail: { transport: 'smtp', smtp: { url: post.url } },
    },
  });
  const anyone = as(undefined, server.url);
  expectOk(await anyone.post('/_/setup', { password }));
  const credentials = { username: 'admin', password };
  const { access_token } = expectOk(await anyone.post('/_/auth/admin/login', credentials));
  admin = as(access_token, server.url);
  expectOk(await admin.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
}, 90_000);

beforeEach(async () => {
  page = await browser.open(`${pages.origin}/auth/`);
  await page.getByLabel('Server').fill(`http://localhost:${new URL(server.url).port}`);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await Promise.all([post.close(), pages.stop()]);
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
  await fill('First code', code(-1));
  await press('Confirm');
  const recovery = page.locator('#recovery');
  await recovery.filter({ hasText: 'each works once' }).waitFor();
  return { code, recovery: (await recovery.textContent() ?? '').split('\n').slice(1) };
}

describe('the page of an account', () => {
  it('registers, verifies, sets up a second factor and asks for it', async () => {
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
    await fill('Code', authenticator.code(0));
    await press('Continue');
    await me({ email, totp_enabled: true });
    await press('Log out');

    await logIn(email);
    await fill('Code', authenticator.recovery[0] ?? '');
    await press('Continue');
    await me({ email });
    expect(browser.failures).toEqual([]);
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
    expect(await page.context().cookies()).toEqual([]);
  }, 120_000);

  it('says what the server says of a wrong password', async () => {
    await logIn(freshEmail());
    await says('the name or the password is wrong');
  });
});
