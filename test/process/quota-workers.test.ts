// Two API processes on one port: a quota holds for both together.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Answer, expectOk, send } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const password = 'a password of the test';
const app = '/api/workspaces/acme/apps/shop';
const records = `${app}/collections/notes/records`;
const most = 40;
/** No more can be under way elsewhere, as this test writes: see `write`. */
const lanes = 4;
let server: TestServer;
let token: string;

/** A request on a connection of its own: the kernel gives connections to the two in turn, more or less. */
async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
  return await send(server.url + path, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { Connection: 'close', ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
  });
}

beforeAll(async () => {
  server = await startServer({
    config: { api: { workers: 2 }, rate_limit: { per_second: 100_000, burst: 100_000 } },
  });
  expectOk(await ask('POST', '/_/setup', { password }));
  await vi.waitUntil(async () => {
    const tries = Array.from({ length: 20 }, () => ask('GET', '/_/auth/jwks.json'));
    return (await Promise.all(tries)).every(({ status }) => status === 200);
  }, { timeout: 2_000, interval: 20 });
  token = expectOk(await ask('POST', '/_/auth/admin/login', { username: 'admin', password })).access_token;
  expectOk(await ask('POST', '/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await ask('POST', '/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  const schema = { id: 'notes', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await ask('POST', `${app}/collections`, { schema }));
  expectOk(await ask('PUT', `${app}/policies/quota.records`, { kind: 'range', min: 0, max: most }));
  // The other process has heard of it when both refuse what is above.
  await vi.waitUntil(async () => {
    const tries = Array.from({ length: 20 }, () => ask('GET', `${app}/usage`));
    return (await Promise.all(tries)).every(({ body }) => body.quotas.records === most);
  }, { timeout: 2_000, interval: 20 });
});
afterAll(() => server.stop());

async function usage() {
  return expectOk(await ask('GET', `${app}/usage`));
}

it('fills up to the last record, and never beyond what was under way in the other process', {
  timeout: 60_000,
}, async () => {
  let requests = 0;
  let made = 0;
  const write = async () => {
    while (made < most) {
      requests++;
      const { status } = await ask('POST', records, {});
      if (status === 201) made++;
      else expect(status).toBe(403);
    }
  };
  await Promise.all(Array.from({ length: lanes }, write));
  const { records: stored } = await usage();
  expect(stored).toBe(made);
  expect(stored).toBeGreaterThanOrEqual(most);
  expect(stored).toBeLessThanOrEqual(most + lanes);
  const after = await Promise.all(Array.from({ length: 40 }, () => ask('POST', records, {})));
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 403));
  requests += after.length;
  // Each process adds what it counted within seconds.
  await vi.waitUntil(async () => (await usage()).requests_24h >= requests, {
    timeout: 10_000,
    interval: 250,
  });
});
