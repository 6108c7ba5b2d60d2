// A folder of hook files that is the operator's own, as a repository has it.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront } from '../harness/storefront.ts';

const workspace = '/api/workspaces/acme';
const app = `${workspace}/apps/shop`;
const source = `routerAdd('GET', '/hi', () => 'hi');`;

let dir = '';
let server: TestServer;
let master: Caller;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bulkhead-hooks-'));
  await mkdir(join(dir, 'acme/shop'), { recursive: true });
  await writeFile(join(dir, 'acme/shop/hi.js'), source);
  server = await startServer({ config: { 'hooks.dir': dir } });
  ({ master } = await openStorefront(server.url));
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

const served = async () => (await master.get(`${app}/custom/hi`)).status;
const expectKept = async (folder: string) => {
  expect(await readFile(join(dir, 'acme/shop/hi.js'), 'utf8')).toBe(source);
  await server.line(`"hook_files_kept","folder":"${join(dir, folder)}"`);
};

it('is left as it is when an app is deleted and when its workspace is: the hooks are unloaded', async () => {
  await expect.poll(served).toBe(200);
  expectOk(await master.delete(app));
  expect(await served()).toBe(404);
  await expectKept('acme/shop');
  // The folder is that of the app of this id, so a new one has its hooks.
  expectOk(await master.post(`${workspace}/apps`, { id: 'shop', name: 'Shop' }));
  await expect.poll(served).toBe(200);
  expectOk(await master.delete(workspace));
  expect(await served()).toBe(404);
  await expectKept('acme');
});
