// Records that are sent as forms, with files in a bucket.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { startS3, type TestS3 } from '../harness/s3.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/shop';
let s3: TestS3;
let server: TestServer;
let store: Storefront;

beforeAll(async () => {
  s3 = await startS3();
  const { bucket, endpoint, accessKeyId, secretAccessKey } = s3;
  const place = { bucket, endpoint, access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  server = await startServer({ config: { storage: { backend: 's3', s3: place } } });
  store = await openStorefront(server.url);
});
afterAll(async () => {
  await server.stop();
  await s3.stop();
});

it('a form puts its files into the bucket, and none when its record is refused', async () => {
  const fields = [{ name: 'title', kind: 'text', required: true }, { name: 'scan', kind: 'file' }];
  expectOk(await store.master.post(`${app}/collections`, { schema: { id: 'scans', kind: 'base', fields } }));
  const content = 'x'.repeat(6_000_000);
  const send = async (title: string) => {
    const body = new FormData();
    body.append('scan', new Blob([content]), 'scan.bin');
    if (title !== '') body.append('title', title);
    return await fetch(`${server.url}${app}/collections/scans/records`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${store.master.token}` },
      body,
    });
  };
  const refused = await send('');
  expect([refused.status, expectOk(await store.master.get(`${app}/files`)).total_items]).toEqual([400, 0]);
  const { id } = JSON.parse(await (await send('one')).text());
  const { expand } = expectOk(await store.master.get(`${app}/collections/scans/records/${id}?expand=scan`));
  const bytes = await fetch(server.url + expand.scan.url);
  expect(await bytes.text()).toBe(content);
});
