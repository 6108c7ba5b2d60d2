// Hook files that change while the database of their app takes no connections: nobody knows what they would veto.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { unlimitedPermits as anyNumber } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { as, expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { apiPidOf } from '../harness/kills.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/shop';
let server: TestServer;
let store: Storefront;
let provisioner: Pool;
let database: string;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
  store = await openStorefront(server.url);
  provisioner = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
    cap: 1,
    permits: anyNumber,
    now: Date.now,
  });
  const [row] = await provisioner.run((sql) =>
    sql`select database from control.workspaces where id = 'acme'`
  );
  database = String(row?.['database']);
});
afterAll(async () => {
  await provisioner.end();
  await server.stop();
});

/** Refuses connections to the app's database and ends those there are, or takes them again. */
async function allow(isThere: boolean): Promise<void> {
  // The server may be changing the same row ("tuple concurrently updated").
  await vi.waitFor(() =>
    provisioner.run((sql) => sql.unsafe(`alter database ${database} allow_connections ${isThere}`))
  );
  if (isThere) return;
  await vi.waitFor(async () => {
    const ended = await provisioner.run((sql) =>
      sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${database}`
    );
    expect(ended).toHaveLength(0);
  }, 10_000);
}

const source = (title: string) => `
  onRecordBeforeCreate('orders', (e) => {
    if (e.record.fields.title === 'bad') throw new Error('no, says the ${title}');
    e.record.fields.title = '${title}';
  });
  routerAdd('GET', '/which', () => '${title}');`;

it('hook.veto-fail-closed: hooks that change while their database is away let nothing pass, and are in effect once it is back', async () => {
  const { master, records } = store;
  expectOk(await master.post('/api/workspaces', { id: 'other', name: 'Other' }));
  expectOk(await master.put(`${app}/hooks/hooks.js`, { source: source('first') }));
  expectOk(await master.post(records, { title: 'x' }));
  const api = await apiPidOf(server);

  await allow(false);
  await writeFile(join(server.dataDir, 'hooks', 'acme', 'shop', 'hooks.js'), source('second'));
  expect(await server.line('load hooks that have changed')).toContain('background_failed');
  const refused = [
    await master.post(records, { title: 'while it is away' }),
    await as(undefined, server.url).get(`${app}/custom/which`),
    await master.post(`${app}/hooks/reload`),
  ];
  for (const { status, body, headers } of refused) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    expect(body.message).toMatch(/database/);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expectOk(await as(undefined, server.url).get('/healthz'));
  expectOk(await master.post('/api/workspaces/other/apps', { id: 'app', name: 'App' }));

  await allow(true);
  const vetoed = await master.post(records, { title: 'bad' });
  expect(vetoed.body).toMatchObject({ code: 'hook_veto', message: 'no, says the second' });
  expectOk(await master.post(records, { title: 'x' }));
  const { items } = expectOk(await master.get(`${records}?sort=created_at`));
  expect(items.map(({ fields }: { fields: { title: string } }) => fields.title)).toEqual(['first', 'second']);
  expect(expectOk(await as(undefined, server.url).get(`${app}/custom/which`))).toBe('second');
  expect(await apiPidOf(server)).toBe(api);
});
