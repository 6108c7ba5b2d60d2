// The example page of an account, reloaded twice in quick succession, again and again: nobody is logged out by it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { as, expectOk } from '../harness/api.ts';
import { openBrowser, servePages } from '../harness/browser.ts';
import { startServer } from '../harness/server.ts';
import { setUp } from '../harness/set-up.ts';
import { unlimited } from '../harness/storefront.ts';
import { freshEmail } from '../harness/users.ts';

const times = 200;

it('refresh.reload: survives 200 double reloads', async () => {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-reload-'));
  const [pages, browser] = await Promise.all([servePages(), openBrowser()]);
  const server = await startServer({ dataDir: join(home, 'data'), config: unlimited });
  try {
    const admin = await setUp(server.url);
    expectOk(await admin.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
    expectOk(await admin.put('/api/workspaces/acme/origins', { origins: [pages.origin] }));
    const [email, password] = [freshEmail(), 'correct horse battery staple'];
    expectOk(
      await as(undefined, server.url).post('/api/workspaces/acme/auth/users/register', { email, password }),
    );
    const page = await browser.open(`${pages.origin}/auth/`);
    await page.getByLabel('Server').fill(`http://localhost:${new URL(server.url).port}`);
    await page.getByLabel('Email', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    const me = page.locator('#me').filter({ hasText: email });
    await me.waitFor();
    for (let time = 0; time < times; time++) {
      const asked = page.waitForRequest('**/_/auth/refresh');
      await page.reload({ waitUntil: 'commit' });
      // The request is on its way, and its response is lost.
      await asked;
      await page.reload({ waitUntil: 'commit' });
      await me.waitFor();
    }
    const { items } = expectOk(await admin.get('/api/workspaces/acme/audit?action=token_reuse'));
    expect(items).toEqual([]);
  } finally {
    await browser.close();
    await server.stop();
    await pages.stop();
    await rm(home, { recursive: true, force: true });
  }
}, 600_000);
