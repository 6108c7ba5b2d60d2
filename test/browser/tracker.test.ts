// The example "tracker" in real browsers: three people, each in a tab of their own, one of whom must see nothing of the other two.
import { chown, cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { type Browser, openBrowser } from '../harness/browser.ts';
import { secretIn } from '../harness/mailbox.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { masterPassword, setUp } from '../harness/set-up.ts';

const example = join(import.meta.dirname, '../../docs/examples/tracker');
const password = 'correct horse battery staple';
const records = '/api/workspaces/demo/apps/tracker/collections';
const browsers: Browser[] = [];
/** What came over the WebSocket of each page. */
const received = new Map<Page, string[]>();
let server: TestServer;
let admin: Caller;
let address = '';

/** As the README says: the program makes the app, and its pages are copied to where they are served from. */
beforeAll(async () => {
  server = await startServer();
  admin = await setUp(server.url);
  const env = { BULKHEAD_PASSWORD: masterPassword };
  const { stdout } = await execa('node', [join(example, 'setup.js'), server.url], { env });
  [address = ''] = /http:.*\//.exec(stdout) ?? [];
  const hooks = join(server.dataDir, 'hooks');
  const folder = join(hooks, 'demo/tracker/public');
  const { uid, gid } = await stat(hooks);
  await mkdir(folder, { recursive: true });
  await cp(join(example, 'public'), folder, { recursive: true });
  // The server deletes them with the app, so they are its own.
  for (const path of [dirname(dirname(folder)), dirname(folder), folder]) await chown(path, uid, gid);
}, 90_000);

afterAll(async () => {
  await Promise.all(browsers.map((browser) => browser.close()));
  await server.stop();
}, 60_000);

/** Opens the page in a browser of one's own, signs up, and verifies the address with what was mailed. */
async function signUp(name: string): Promise<Page> {
  const browser = await openBrowser();
  browsers.push(browser);
  const page = await browser.open('about:blank');
  const frames: string[] = [];
  received.set(page, frames);
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))));
  await page.goto(address);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email').fill(`${name.toLowerCase()}@example.com`);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Code of the mail').fill(await mailedTo(`${name.toLowerCase()}@example.com`));
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect.poll(() => page.getByLabel('Code of the mail').count()).toBe(0);
  return page;
}

async function mailedTo(address: string): Promise<string> {
  const folder = join(server.dataDir, 'outbox');
  let secret: string | undefined;
  await expect.poll(async () => {
    const mails = await Promise.all(
      (await readdir(folder)).filter((file) => file.endsWith('.eml')).map((file) =>
        readFile(join(folder, file), 'utf8')
      ),
    );
    secret = mails.filter((mail) => mail.includes(`To: ${address}`)).map(secretIn).at(-1);
    return secret;
  }).toBeTypeOf('string');
  return secret ?? '';
}

const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** What the page of somebody gets when it asks the API itself, with the session of that person. */
const statusOf = (page: Page, path: string) =>
  page.evaluate(async (path) => (await fetch(path)).status, path);

/** How many records a list says that there are. */
async function countOf(page: Page, path: string): Promise<unknown> {
  const list = await page.evaluate(async (path) => await (await fetch(path)).json(), path);
  return Reflect.get(Object(list), 'total_items');
}

/** Makes a project, and waits until its page is there: events that were on their way before have come. */
async function makeProject(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Key').fill(name.slice(0, 1));
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { name }).waitFor();
}

/** Ada makes a project, and invites Bob, who accepts. */
async function begin(ada: Page, bob: Page): Promise<void> {
  await makeProject(ada, 'Lighthouse');
  await ada.getByRole('link', { name: 'Members 1' }).click();
  await ada.getByLabel('Email').fill('bob@example.com');
  await ada.getByRole('button', { name: 'Invite' }).click();
  // Bob's page is open: the invitation comes to it.
  await bob.getByRole('button', { name: 'Accept' }).click();
  await shows(bob, 'No issues here');
  await shows(ada, 'Members 2');
}

it('shows two people what the other does at once, and a third nothing', async () => {
  const [ada, bob, eve] = [await signUp('Ada'), await signUp('Bob'), await signUp('Eve')];
  await shows(eve, 'No project yet');
  await begin(ada, bob);

  // An issue of Ada's appears to Bob, who opens it.
  await ada.getByRole('link', { name: 'Issues' }).click();
  await ada.getByRole('button', { name: 'New issue' }).click();
  await ada.getByLabel('Title').fill('The lamp flickers in storms');
  await ada.getByLabel('What is it about?').fill('Twice last night. See https://example.com/log');
  await ada.getByRole('dialog').getByLabel('bug').check();
  await ada.getByRole('button', { name: 'Create issue' }).click();
  await ada.getByRole('heading', { name: 'The lamp flickers in storms' }).waitFor();
  await bob.getByRole('link', { name: 'The lamp flickers in storms' }).click();

  // A comment of Bob's with a file appears to Ada, and what she changes appears to Bob.
  await bob.getByLabel('Comment', { exact: true }).fill('The cable is loose.');
  const file = { name: 'cable.png', mimeType: 'image/png', buffer: picture };
  await bob.getByText('Attach files').last().locator('input').setInputFiles(file);
  await bob.getByRole('button', { name: 'Comment' }).click();
  await shows(ada, 'The cable is loose.');
  await expect.poll(() =>
    ada.locator('img[alt="cable.png"]').evaluate((image) => Reflect.get(image, 'naturalWidth'))
  )
    .toBe(1);
  await ada.getByLabel('State').selectOption('In progress');
  await bob.locator('.text .state.doing').waitFor();
  await bob.locator('aside').getByLabel('urgent').check();
  await expect.poll(() => ada.locator('aside').getByLabel('urgent').isChecked()).toBe(true);

  // Eve has the addresses of all of it.
  const issue = expectOk(await admin.get(`${records}/issues/records`)).items[0];
  const comment = expectOk(await admin.get(`${records}/comments/records`)).items[0];
  const source = ada.url().replace(/^.*#/, '#');
  await eve.goto(`${address}${source}`);
  await shows(eve, 'There is nothing here that you may see.');
  for (const name of ['projects', 'memberships', 'invitations', 'issues', 'comments']) {
    expect(await countOf(eve, `${records}/${name}/records`), name).toBe(0);
    expect(await countOf(bob, `${records}/${name}/records`), name).toBe(
      name === 'invitations' ? 0 : name === 'memberships' ? 2 : 1,
    );
  }
  for (
    const path of [
      `issues/records/${issue.id}`,
      `comments/records/${comment.id}`,
      `projects/records/${issue.fields.project}`,
    ]
  ) {
    expect(await statusOf(eve, `${records}/${path}`)).toBe(403);
  }
  const picturePath = `${records.replace('collections', 'files')}/${comment.fields.attachments[0]}`;
  expect([await statusOf(ada, picturePath), await statusOf(eve, picturePath)]).toEqual([200, 403]);
  expect(await countOf(eve, `${records}/issues/records?search=lamp`)).toBe(0);
  expect(await eve.content()).not.toMatch(/Lighthouse|lamp|cable/);

  // Bob finds the issue by a word, also with a typing error.
  await bob.locator('#crumbs').getByRole('link', { name: 'Lighthouse' }).click();
  await bob.getByRole('button', { name: 'All' }).click();
  await bob.getByLabel('Search').fill('flikers');
  await bob.getByRole('link', { name: 'The lamp flickers in storms' }).waitFor();
  await bob.getByLabel('Search').fill('whale');
  await shows(bob, 'No issues here');
  await bob.getByLabel('Search').fill('');

  // Ada removes Bob: his page goes away by itself, and what she does afterwards never reaches him.
  await ada.locator('#crumbs').getByRole('link', { name: 'Lighthouse' }).click();
  await ada.getByRole('link', { name: 'Members 2' }).click();
  await ada.getByRole('button', { name: 'Remove' }).click();
  await bob.getByText('No project yet').waitFor();
  await ada.getByRole('link', { name: 'Issues' }).click();
  await ada.getByRole('button', { name: 'New issue' }).click();
  await ada.getByLabel('Title').fill('Secret of Ada');
  await ada.getByRole('button', { name: 'Create issue' }).click();
  await ada.getByRole('heading', { name: 'Secret of Ada' }).waitFor();
  await eve.goto(`${address}#/`);
  for (const each of [bob, eve]) await makeProject(each, 'Garden');
  expect(received.get(ada)?.join()).toContain('The cable is loose.');
  expect(received.get(bob)?.join()).not.toContain('Secret of Ada');
  expect(received.get(eve)?.join()).not.toMatch(/Secret of Ada|Lighthouse|lamp|cable/);
  expect(await countOf(bob, `${records}/issues/records`)).toBe(0);
  expect(await statusOf(bob, `${records}/issues/records/${issue.id}`)).toBe(403);
  expect(browsers.flatMap(({ failures }) => failures)).toEqual([]);
}, 180_000);

/** A PNG of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
