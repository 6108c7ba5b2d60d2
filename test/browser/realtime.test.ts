// The example page of live records, in real browsers, next to curl and a WebSocket client of our own.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { type Browser, openBrowser, type Pages, servePages } from '../harness/browser.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { openSocket } from '../api/realtime/socket-client.ts';

const password = 'correct horse battery staple';
const app = '/api/workspaces/acme/apps/shop';
const records = `${app}/collections/notes/records`;
let home: string;
let pages: Pages;
let server: TestServer;
let origin: string;
let admin: Caller;
const browsers: Browser[] = [];

const start = (port = 0) =>
  startServer({
    dataDir: join(home, 'data'),
    config: { 'http.port': port },
  });

/** Users see what is theirs. Nothing is set but the allowed origin: cookies are `Secure`, as by default. */
beforeAll(async () => {
  pages = await servePages();
  home = await mkdtemp(join(tmpdir(), 'bulkhead-pages-'));
  server = await start();
  origin = `http://localhost:${new URL(server.url).port}`;
  admin = await setUp(server.url);
  await makeShop(admin);
  expectOk(await admin.put('/api/workspaces/acme/origins', { origins: [pages.origin] }));
  const fields = [{ name: 'title', kind: 'text' }, { name: 'owner', kind: 'relation', target: 'users' }];
  expectOk(await admin.post(`${app}/collections`, { schema: { id: 'notes', kind: 'base', fields } }));
  for (const action of ['list', 'get']) {
    const rule = { template: 'filter', filter: 'owner = @request.auth.id' };
    expectOk(await admin.put(`${app}/collections/notes/access_rules/${action}`, rule));
  }
}, 90_000);

afterAll(async () => {
  await Promise.all(browsers.map((browser) => browser.close()));
  await server.stop();
  await pages.stop();
  await rm(home, { recursive: true, force: true });
}, 60_000);

async function user(name: string): Promise<{ id: string; email: string; token: string }> {
  const email = `${name}@example.com`;
  const anyone = as(undefined, server.url);
  const { id } = expectOk(await anyone.post('/api/workspaces/acme/auth/users/register', { email, password }));
  const { access_token: token } = expectOk(
    await anyone.post('/api/workspaces/acme/auth/users/login', { email, password }),
  );
  return { id, email, token };
}

/** What a person does: opens the page, fills in the form, presses the button, sees both halves go live. */
async function watch(email: string): Promise<Page> {
  const browser = await openBrowser();
  browsers.push(browser);
  const page = await browser.open(`${pages.origin}/realtime/`);
  await page.getByLabel('Server').fill(origin);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Watch' }).click();
  for (const half of ['sse', 'socket']) await page.locator(`#${half}-state`, { hasText: 'live' }).waitFor();
  return page;
}

/** Waits until both halves of the page show exactly these records. */
async function shows(page: Page, titles: string[]): Promise<void> {
  for (const half of ['sse', 'socket']) {
    await expect.poll(async () => {
      const items = await page.locator(`#${half} li`).allTextContents();
      return items.map((item) => JSON.parse(item).title).sort();
    }, { timeout: 10_000 }).toEqual(titles);
  }
}

describe('the page of live records', () => {
  it('shows two people in two browsers their own records, and every change of them', async () => {
    const [ada, bob] = await Promise.all([user('ada'), user('bob')]);
    const create = async (title: string, owner: string) =>
      expectOk(await admin.post(records, { title, owner })).id;
    await create('there before', ada.id);
    const [adas, bobs] = await Promise.all([watch(ada.email), watch(bob.email)]);
    await shows(adas, ['there before']);
    await shows(bobs, []);
    const first = await create('for Ada', ada.id);
    const second = await create('for Bob', bob.id);
    await shows(adas, ['for Ada', 'there before']);
    await shows(bobs, ['for Bob']);
    expectOk(await admin.patch(`${records}/${first}`, { title: 'changed' }));
    expectOk(await admin.delete(`${records}/${second}`));
    await shows(adas, ['changed', 'there before']);
    await shows(bobs, []);
    expect(await bobs.content()).not.toContain('there before');
    expect(browsers.flatMap(({ failures }) => failures)).toEqual([]);
  }, 120_000);

  it(
    'comes back by itself after a restart of the server, without a cookie by the refresh token',
    async () => {
      const eve = await user('eve');
      const page = await watch(eve.email);
      await page.context().clearCookies({ name: 'svc_at' });
      await server.stop();
      server = await start(Number(new URL(server.url).port));
      expectOk(await admin.post(records, { title: 'after', owner: eve.id }));
      await shows(page, ['after']);
      expectOk(await admin.post(records, { title: 'later', owner: eve.id }));
      await shows(page, ['after', 'later']);
    },
    120_000,
  );
});

describe('three clients', () => {
  it('a browser, curl -N and a WebSocket client see the same, of what one user may see', async () => {
    const [dan, other] = await Promise.all([user('dan'), user('other')]);
    const page = await watch(dan.email);
    const curl = execa('curl', [
      '-sN',
      '-H',
      `Authorization: Bearer ${dan.token}`,
      `${server.url}${app}/collections/notes/events`,
    ], {
      reject: false,
      buffer: false,
    });
    let heard = '';
    curl.stdout.on('data', (chunk) => heard += String(chunk));
    await once(curl.stdout, 'data');
    const socket = await openSocket(Number(new URL(server.url).port), {
      Authorization: `Bearer ${dan.token}`,
    }, `${app}/realtime`);
    await socket.subscribe('n', { collection: 'notes' });
    expectOk(await admin.post(records, { title: 'not for Dan', owner: other.id }));
    const made = expectOk(await admin.post(records, { title: 'for Dan', owner: dan.id }));
    await shows(page, ['for Dan']);
    await expect.poll(() => heard).toContain(`event: record_created\ndata: ${JSON.stringify(made)}\n\n`);
    await socket.count(2);
    expect(socket.told[1]).toMatchObject({ type: 'event', event: 'record_created', record: made });
    expect(heard).not.toContain('not for Dan');
    socket.socket.close();
    curl.kill('SIGTERM');
    await curl;
  }, 120_000);
});
