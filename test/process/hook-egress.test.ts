// Requests that hooks send, on a server whose master has opened the way.
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/caller';
const asked: { url: string | undefined; headers: Record<string, unknown> }[] = [];
let server: TestServer;
let admin: Caller;
let target: Server;
let host: string;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
  admin = (await openStorefront(server.url)).master;
  target = createServer(({ url, headers, method }, response) => {
    asked.push({ url, headers });
    if (url === '/away') response.writeHead(302, { Location: 'http://127.0.0.1:1/' });
    response.end(method);
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('the target does not listen');
  host = `127.0.0.1:${address.port}`;
  expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'caller', name: 'Caller' }));
  const source = `routerAdd('POST', '/fetch', async (e) => {
    const { url, ...init } = await e.request.json();
    try {
      const answer = await fetch(url, init);
      return { status: answer.status, body: await answer.text() };
    } catch (error) { return { error: error.message }; }
  });`;
  expectOk(await admin.put(`${app}/hooks/caller.js`, { source }));
});
afterAll(async () => {
  await new Promise((resolve) => target.close(resolve));
  await server.stop();
});

async function fetchInHook(
  url: string,
  init = {},
): Promise<{ status?: number; body?: string; error?: string }> {
  return expectOk(await as(undefined, server.url).post(`${app}/custom/fetch`, { url, ...init }));
}

it('hook.egress: fetch reaches a host that policy hooks.egress names, and no other', async () => {
  expect((await fetchInHook(`http://${host}/`)).error).toContain('hooks.egress');
  expect(asked).toEqual([]);
  const policy = { kind: 'enum_set', allowed: [host] };
  for (const level of ['/api/system', '/api/workspaces/acme', app]) {
    expectOk(await admin.put(`${level}/policies/hooks.egress`, policy));
  }
  const init = { method: 'POST', body: 'x', headers: { 'x-own': '1' } };
  expect(await fetchInHook(`http://${host}/ok`, init)).toEqual({ status: 200, body: 'POST' });
  expect(asked).toEqual([{ url: '/ok', headers: expect.objectContaining({ 'x-own': '1', host }) }]);
  for (const name of ['authorization', 'cookie']) expect(asked[0]?.headers).not.toHaveProperty(name);
  for (const other of ['http://127.0.0.1:1/', `http://localhost:${host.split(':')[1]}/`]) {
    expect((await fetchInHook(other)).error).toContain('hooks.egress');
  }
  expect(await fetchInHook(`http://${host}/away`)).toEqual({ error: expect.any(String) });
  expect(asked.map(({ url }) => url)).toEqual(['/ok', '/away']);
});
