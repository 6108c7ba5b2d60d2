// An import in an app that has one connection, as every app has while connections are scarce: it must not wait for itself.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { openStorefront } from '../../../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/shop';
const records = `${app}/collections/things/records`;
const lines = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`).join('\n');

let server: TestServer;
let master: Caller;
beforeAll(async () => {
  server = await startServer({ config: { 'database.app_pool_cap': 1 } });
  ({ master } = await openStorefront(server.url));
  const schema = { id: 'things', kind: 'base', fields: [{ name: 'n', kind: 'number' }] };
  expectOk(await master.post(`${app}/collections`, { schema }));
});
afterAll(() => server.stop());

const send = (count: number) =>
  master.post(`${records}/import`, lines(count), { 'Content-Type': 'application/x-ndjson' });

it('counts what its quotas leave while its transaction is open', async () => {
  for (const quota of ['records', 'storage_mb']) {
    const value = { kind: 'range', min: 0, max: quota === 'records' ? 1_200 : 1 };
    expectOk(await master.put(`${app}/policies/quota.${quota}`, value));
  }
  expect(expectOk(await send(1_000)).created).toBe(1_000);
  expectError(await send(1_000), 403, 'quota_exceeded');
  expect(expectOk(await master.get(`${records}?per_page=1`)).total_items).toBe(1_000);
}, 30_000);
