// A page at the origin of its app, in a real browser: its users sign in there, and it reaches nobody else's sessions.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { type Browser, openBrowser } from '../harness/browser.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, masterPassword, setUp } from '../harness/set-up.ts';

let server: TestServer;
let browser: Browser;
let port: string;

const source = `
const page = '<!doctype html><title>Shop</title><p id="out"></p><script src="/page.js"></script>';
const headers = { 'content-security-policy': "default-src 'self'; connect-src *" };
routerAdd('GET', '/', () => new Response(page, { headers: { ...headers, 'content-type': 'text/html' } }));
routerAdd('GET', '/page.js', () => new Response('out.textContent = "it runs"', { headers: { 'content-type': 'text/javascript' } }));
routerAdd('POST', '/who', (e) => ({ email: e.auth?.email ?? null }));
`;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
  ({ port } = new URL(server.url));
  const master = await setUp(server.url);
  const path = await makeShop(master);
  expectOk(await master.put(`${path}/hooks/site.ts`, { source }));
}, 90_000);

afterAll(async () => {
  await browser.close();
  await server.stop();
}, 60_000);

it('signs its users in, with cookies that no other origin gets', async () => {
  const page = await browser.open(`http://shop--acme.localhost:${port}/`);
  await expect.poll(() => page.locator('#out').textContent()).toBe('it runs');
  const call = (path: string, body: unknown) =>
    page.evaluate(async ({ path, body }) => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    }, { path, body });
  const user = { email: 'ann@example.com', password: 'a password of a user' };
  expect((await call('/api/workspaces/acme/auth/users/register', user)).status).toBe(201);
  expect((await call('/api/workspaces/acme/auth/users/login', user)).status).toBe(200);
  expect(await call('/who', {})).toEqual({ status: 200, body: { email: user.email } });
  expect((await call('/_/auth/refresh', {})).status).toBe(200);

  const names = async (host: string) =>
    (await page.context().cookies(`http://${host}:${port}/_/auth`)).map(({ name }) => name).sort();
  expect(await names('shop--acme.localhost')).toEqual(['svc_at', 'svc_kc', 'svc_rt']);
  expect(await names('blog--acme.localhost')).toEqual([]);
  expect(await names('localhost')).toEqual([]);
});

it("reads nothing by an operator's cookie, which the same browser has", async () => {
  const page = await browser.open(`http://shop--acme.localhost:${port}/`);
  const data = { username: 'admin', password: masterPassword };
  const login = await page.context().request.post(`http://localhost:${port}/_/auth/admin/login`, { data });
  expect(login.status()).toBe(200);

  const read = (url: string) =>
    page.evaluate(async (url) => {
      try {
        return (await fetch(url, { credentials: 'include' })).status;
      } catch {
        return 'refused by the browser';
      }
    }, url);
  expect(await read(`http://localhost:${port}/api/workspaces`)).toBe('refused by the browser');
  expect(await read('/api/workspaces')).toBe(404);
  await page.evaluate("document.cookie = 'svc_at=planted; Domain=localhost; Path=/api'");
  const cookies = await page.context().cookies(`http://localhost:${port}/api`);
  expect(cookies.filter(({ value }) => value === 'planted')).toEqual([]);
});
