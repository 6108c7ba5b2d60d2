// The page at the server's own address, in a real browser: it says how to set the server up, and that works.
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, openBrowser } from '../harness/browser.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
}, 90_000);

afterAll(async () => {
  await browser.close();
  await server.stop();
}, 60_000);

it('shows a newcomer how to set the server up, and afterwards what there is', async () => {
  const page = await browser.open(server.url);
  const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  await heading('Set it up');
  // The style is in effect, so the policy knows it.
  expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('704px');
  const command = await page.locator('pre').textContent() ?? '';
  const { stdout } = await execa('sh', ['-c', command]);
  expect(JSON.parse(stdout)).toEqual({ initialized: true });

  await page.reload();
  await heading('Use it');
  await page.getByRole('link', { name: '/_/openapi.json' }).click();
  await page.waitForURL('**/_/openapi.json');
  expect(await page.locator('body').textContent()).toContain('"openapi":"3.1.0"');
  expect(browser.failures).toEqual([]);
}, 60_000);
