// Two API processes on one port: the totals of both are right, whichever of them has written.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Answer, expectOk, send } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const password = 'a password of the test';
const records = '/api/workspaces/acme/apps/shop/collections/notes/records';
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
  expectOk(await ask('POST', '/api/workspaces/acme/apps/shop/collections', { schema }));
});
afterAll(() => server.stop());

async function total(filter = ''): Promise<number> {
  return expectOk(await ask('GET', `${records}?per_page=1${filter}`)).total_items;
}

it('answers exact totals from both of two API processes while both write', { timeout: 60_000 }, async () => {
  for (const title of ['a', 'b', 'c']) expectOk(await ask('POST', records, { title }));
  const tally = { begun: 3, made: 3, leaving: 0, left: 0 };
  let writing = true;
  let reads = 0;
  const writer = async () => {
    for (let n = 0; n < 30; n++) {
      tally.begun++;
      const { id } = expectOk(await ask('POST', records, { title: 'w' }));
      tally.made++;
      // On the same connection or not, whoever asks after the answer must see the write.
      expect(await total(`&filter=${encodeURIComponent(`id = "${id}"`)}`)).toBe(1);
      if (n % 2 === 0) continue;
      tally.leaving++;
      expectOk(await ask('DELETE', `${records}/${id}`));
      tally.left++;
    }
  };
  const reader = async () => {
    while (writing) {
      const before = { ...tally };
      const seen = await total();
      expect(seen).toBeGreaterThanOrEqual(before.made - tally.leaving);
      expect(seen).toBeLessThanOrEqual(tally.begun - before.left);
      reads++;
    }
  };
  const readers = Promise.all([reader(), reader()]);
  await Promise.all([writer(), writer()]);
  writing = false;
  await readers;
  expect(reads).toBeGreaterThan(20);
  const last = tally.made - tally.left;
  expect(await Promise.all(Array.from({ length: 20 }, () => total()))).toEqual(
    Array.from({ length: 20 }, () => last),
  );
});

it('answers from the other process what one has just written, also where it remembered a total', async () => {
  let expected = await total();
  for (let round = 0; round < 20; round++) {
    // Both have the total in memory by now, as far as nothing else writes.
    await Promise.all(Array.from({ length: 8 }, () => total()));
    expectOk(await ask('POST', records, { title: 'x' }));
    expected++;
    const seen = await Promise.all(Array.from({ length: 8 }, () => total()));
    expect(new Set(seen)).toEqual(new Set([expected]));
  }
});
