// Hook runners whose app or workspace is deleted: none of them lives on, whichever process had it started.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { isAlive, processTree } from '../harness/processes.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

let server: TestServer;
let admin: Caller;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, api: { workers: 2 } } });
  admin = (await openStorefront(server.url)).master;
});
afterAll(() => server.stop());

async function runners(): Promise<number[]> {
  const tree = await processTree(server.pid);
  return tree.filter(({ command }) => /^\S*\/deno run .*--deny-read/.test(command)).map(({ pid }) => pid);
}

it.each([
  ['an app', '/api/workspaces/leaving/apps/shop'],
  ['a workspace', '/api/workspaces/leaving'],
])('tenant.delete-complete: those of %s are gone soon after it', async (_, leaving) => {
  const app = '/api/workspaces/leaving/apps/shop';
  await admin.post('/api/workspaces', { id: 'leaving', name: 'Leaving' });
  expectOk(await admin.post('/api/workspaces/leaving/apps', { id: 'shop', name: 'Shop' }));
  const source = `setInterval(() => {}, 10); routerAdd('GET', '/x', () => 1);`;
  expectOk(await admin.put(`${app}/hooks/hook.js`, { source }));
  const asked = Array.from({ length: 20 }, () => admin.get(`${app}/custom/x`));
  for (const response of await Promise.all(asked)) expectOk(response);
  const started = await runners();
  expect(started.length).toBeGreaterThan(0);
  expectOk(await admin.delete(leaving));
  const alive = async () => (await Promise.all(started.map(isAlive))).filter((is) => is).length;
  await expect.poll(alive, { timeout: 60_000 }).toBe(0);
}, 120_000);
