// Custom routes that a page of another origin calls: on a server of its own, since the origin is a setting.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { openStorefront } from '../../../harness/storefront.ts';

const friend = 'https://friend.example';
/** The origin of pages in an app of Capacitor's, on phones. */
const phone = 'capacitor://localhost';
const app = '/api/workspaces/acme/apps/shop';
const source =
  `routerAdd('GET', '/total', () => new Response('x', { headers: { 'X-Total': '3', 'Cache-Control': 'public' } }));`;
let server: TestServer;

beforeAll(async () => {
  server = await startServer({ config: { 'cors.allowed_origins': [friend, phone] } });
  const { master } = await openStorefront(server.url);
  expect(expectOk(await master.put(`${app}/hooks/a.js`, { source })).reload.errors).toEqual([]);
});
afterAll(() => server.stop());

async function readableBy(origin: string): Promise<string[]> {
  const { headers } = await fetch(`${server.url}${app}/custom/total`, { headers: { Origin: origin } });
  expect(headers.get('X-Total')).toBe('3');
  return headers.get('Access-Control-Expose-Headers')?.split(', ') ?? [];
}

it("shows the route's own headers to pages of allowed origins, besides the server's, and to no others", async () => {
  for (const allowed of [friend, phone]) {
    expect(await readableBy(allowed)).toEqual(expect.arrayContaining(['X-Request-Id', 'x-total']));
  }
  expect(await readableBy('https://foe.example')).toEqual([]);
});
