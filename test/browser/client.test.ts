// The client in real tabs: one session for all of them, and sign-ins that leave the page.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { type OpenIdPeer, startOpenIdPeer } from '../harness/openid.ts';
import { freshEmail } from '../harness/users.ts';
import { type ClientRig, clientRig } from './client-rig.ts';

let rig: ClientRig;
let peer: OpenIdPeer;

beforeAll(async () => {
  rig = await clientRig();
  const redirectUri = `${rig.pages.origin}/`;
  peer = await startOpenIdPeer({ redirectUris: [redirectUri] });
  const { clientId: client_id, clientSecret: client_secret, config } = peer;
  const provider = { client_id, client_secret, config: { ...config, redirect_uris: [redirectUri] } };
  expectOk(await rig.admin.put('/api/workspaces/acme/auth/oauth/providers/peer', provider));
}, 120_000);

afterEach(async () => {
  const [first, ...rest] = rig.browser.tabs();
  await first?.evaluate('localStorage.clear()').catch(() => undefined);
  await first?.context().clearCookies();
  await Promise.all([first, ...rest].map((tab) => tab?.close()));
});

afterAll(async () => {
  await rig.close();
  await peer.close();
}, 60_000);

/** The refreshes that a browser sends while `work` runs. */
async function refreshesDuring(page: Page, work: () => Promise<void>): Promise<number> {
  let count = 0;
  const see = (request: { url(): string; method(): string }) => {
    if (request.method() === 'POST' && request.url().endsWith('/refresh')) count++;
  };
  page.context().on('request', see);
  await work();
  page.context().off('request', see);
  return count;
}

describe.each([undefined, 'cookies'] as const)('a session in storage: %s', (storage) => {
  it('is renewed once for 20 tabs', async () => {
    const first = await rig.signIn(storage);
    const others = await Promise.all(Array.from({ length: 19 }, () => rig.tab(storage)));
    const tabs = [first, ...others];
    await Promise.all(tabs.map((tab) => tab.evaluate('client.auth.ready')));
    const count = await refreshesDuring(first, async () => {
      // Each tab has its own clock of the token's end, and all of them are over now.
      await Promise.all(tabs.map((tab) => tab.evaluate('client.auth.session.expires_at = 1')));
      await Promise.all(tabs.map((tab) => tab.evaluate('client.auth.me().then(() => 0)')));
    });
    expect(count).toBe(1);
    const tokens = await Promise.all(tabs.map((tab) => tab.evaluate('client.auth.session.access_token')));
    expect(new Set(tokens).size).toBe(1);
    expect(rig.browser.failures).toEqual([]);
  }, 120_000);

  it('goes on after a reload, and ends in all tabs', async () => {
    const first = await rig.signIn(storage);
    const second = await rig.tab(storage);
    await second.evaluate('client.auth.ready');
    expect(await second.evaluate('client.auth.user.email')).toBe(
      await first.evaluate('client.auth.user.email'),
    );
    await second.evaluate('client.auth.onAuthChange((event) => window.last = event)');
    await first.evaluate('client.auth.signOut()');
    await second.waitForFunction("window.last === 'signed_out'");
    const third = await rig.tab(storage);
    await third.evaluate('client.auth.ready');
    expect(await third.evaluate('client.auth.user === undefined')).toBe(true);
  }, 120_000);
});

/** Goes through login and consent of the provider. */
async function signInAtPeer(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
}

describe('signing in with another provider', () => {
  it('works in a popup', async () => {
    const email = freshEmail();
    peer.know({ login: 'ada', email, emailVerified: true });
    const page = await rig.tab();
    const opened = page.waitForEvent('popup');
    await page.evaluate("void (window.signIn = client.auth.signInWithPopup('peer'))");
    const popup = await opened;
    await signInAtPeer(popup, 'ada');
    await popup.waitForURL(`${rig.pages.origin}/**`);
    const closed = popup.waitForEvent('close');
    await popup.evaluate(`modules.then(([{ createClient }]) => {
      void createClient('${rig.url}', { workspace: 'acme', app: 'shop' }).auth.completeOAuth();
    })`);
    expect(await page.evaluate('signIn.then(({ user }) => user.email)')).toBe(email);
    await closed;
  }, 120_000);

  it('works by leaving the page, and not for what another page has begun', async () => {
    const email = freshEmail();
    peer.know({ login: 'eve', email, emailVerified: true });
    const page = await rig.tab();
    await page.evaluate("client.auth.signInWithRedirect('peer')").catch(() => undefined);
    await signInAtPeer(page, 'eve');
    await page.waitForURL(`${rig.pages.origin}/**`);
    const complete = `modules.then(([{ createClient }]) =>
      createClient('${rig.url}', { workspace: 'acme', app: 'shop' }).auth.completeOAuth()
        .then((signIn) => signIn?.user.email, ({ message }) => message))`;
    const url = page.url();
    expect(await page.evaluate(complete)).toBe(email);
    expect(page.url()).toBe(`${rig.pages.origin}/`);
    await page.goto(url);
    expect(await page.evaluate(complete)).toContain('was not begun here');
  }, 120_000);
});
