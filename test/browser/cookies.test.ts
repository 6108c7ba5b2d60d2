// Cookies of hooks and those of sessions in one browser, which keeps no more than some 180 of a host.
import { expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { openBrowser } from '../harness/browser.ts';
import { startServer } from '../harness/server.ts';
import { makeShop, masterPassword, setUp } from '../harness/set-up.ts';

/** Sets as many cookies as it may in each of 15 redirects. */
const source = `routerAdd('GET', '/jar/:left', (e) => {
  const left = Number(e.params.left);
  const headers = Array.from({ length: 20 }, (_, n) =>
    ['Set-Cookie', 'c' + left + '_' + n + '=1; Max-Age=999999; Secure; SameSite=None; Priority=High']);
  if (left === 0) return new Response('full', { headers });
  return new Response(null, { status: 302, headers: [...headers, ['Location', String(left - 1)]] });
});`;

it('a link to a route that sets hundreds of cookies ends no session of the browser', async () => {
  const [server, browser] = await Promise.all([startServer(), openBrowser()]);
  try {
    const admin = await setUp(server.url);
    await makeShop(admin);
    const app = '/api/workspaces/acme/apps/shop';
    expectOk(await admin.put(`${app}/hooks/jar.js`, { source }));
    const origin = `http://localhost:${new URL(server.url).port}`;
    const page = await browser.open(`${origin}/healthz`);
    // The server's own pages may send no requests.
    await (await page.context().newCDPSession(page)).send('Page.setBypassCSP', { enabled: true });
    await page.goto(`${origin}/healthz`);
    const status = (path: string, body?: unknown) =>
      page.evaluate(async ([path, body]) => {
        const headers = { 'Content-Type': 'application/json' };
        const request = body === undefined ? fetch(path) : fetch(path, { method: 'POST', body, headers });
        return (await request).status;
      }, [path, body === undefined ? undefined : JSON.stringify(body)] as const);
    expect(await status('/_/auth/admin/login', { username: 'admin', password: masterPassword })).toBe(200);
    expect(await status('/api/workspaces')).toBe(200);
    await page.goto(`${origin}${app}/custom/jar/15`);
    expect(await page.textContent('body')).toBe('full');
    expect((await page.context().cookies()).length).toBeGreaterThan(100);
    // The page of a hook has no origin, and none of its cookies.
    await page.goto(`${origin}/healthz`);
    expect(await status('/api/workspaces')).toBe(200);
    expect(await status('/_/auth/refresh', {})).toBe(200);
  } finally {
    await Promise.all([browser.close(), server.stop()]);
  }
});
