// A bucket that cannot be reached: nothing but files needs it, and what does is to be tried again.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront } from '../harness/storefront.ts';

let server: TestServer;
let store: Storefront;
beforeAll(async () => {
  const s3 = {
    bucket: 'blobs',
    endpoint: `http://127.0.0.1:${await freePort()}`,
    access_key_id: 'anybody',
    secret_access_key: 'anything',
  };
  server = await startServer({ config: { storage: { backend: 's3', s3 } } });
  store = await openStorefront(server.url);
});
afterAll(() => server.stop());

it('fault.store-away: an upload is answered 503 with Retry-After, and the log says why', async () => {
  const response = await fetch(`${server.url}/api/workspaces/acme/apps/shop/files`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${store.master.token}` },
    body: 'a few bytes',
  });
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await response.json()).toEqual({
    code: 'unavailable',
    message: 'the store of files does not respond; try again',
  });
  expect(await server.line('request_failed')).toContain('ECONNREFUSED');
});
