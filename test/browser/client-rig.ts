// A server for pages with the client, and tabs of one browser that are signed in.
import type { Page } from 'playwright-core';
import { as, expectOk, patiently } from '../harness/api.ts';
import { type Browser, openBrowser, type Pages } from '../harness/browser.ts';
import { serveClientPages } from '../harness/client-pages.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { freshEmail } from '../harness/users.ts';

/** What the test drives. */
export interface ClientRig {
  pages: Pages;
  browser: Browser;
  server: TestServer;
  /** As pages reach the server. */
  url: string;
  admin: Awaited<ReturnType<typeof setUp>>;
  /** Opens a tab with `client` in it. `storage` is that of the client. */
  tab(storage?: 'cookies'): Promise<Page>;
  /** Opens a tab and signs a new user in there. */
  signIn(storage?: 'cookies'): Promise<Page>;
  close(): Promise<void>;
}

/** What a page calls the client by. */
const prepare = (url: string, storage: string | undefined) =>
  `(async () => {
  const [{ createClient, f }] = await window.modules;
  window.f = f;
  window.client = createClient(${JSON.stringify(url)}, {
    workspace: 'acme', app: 'shop', storage: ${JSON.stringify(storage) ?? 'undefined'} });
})()`;

/** Starts server, pages and browser. */
export async function clientRig(
  config: Record<string, string | number | boolean> = {},
  modules: readonly string[] = [],
): Promise<ClientRig> {
  const pages = await serveClientPages('api/client/main.ts', ...modules);
  const server = await startServer({
    config: {
      'cors.allowed_origins': JSON.stringify([pages.origin]),
      'egress.private_hosts': 'loopback',
      'rate_limit.enabled': false,
      ...config,
    },
  });
  const admin = await setUp(server.url);
  await makeShop(admin);
  expectOk(await admin.put('/api/workspaces/acme/origins', { origins: [pages.origin] }));
  const browser = await openBrowser();
  const url = `http://localhost:${new URL(server.url).port}`;
  const tab = async (storage?: 'cookies') => {
    const page = await browser.open(pages.origin);
    await page.evaluate(prepare(url, storage));
    return page;
  };
  const signIn = async (storage?: 'cookies') => {
    const credentials = { email: freshEmail(), password: 'correct horse battery staple' };
    const register = () =>
      as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', credentials);
    expectOk(await patiently(register));
    const page = await tab(storage);
    await page.evaluate(`client.auth.signIn(${JSON.stringify(credentials)})`);
    return page;
  };
  const close = async () => {
    await browser.close();
    await Promise.all([server.stop(), pages.stop()]);
  };
  return { pages, browser, server, url, admin, tab, signIn, close };
}
