// The API killed while it clones a workspace, and while it resets a clone. `BULKHEAD_TEST_FAULTS=all` kills it more often.
import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Pool } from '../../storage/connections/pool.ts';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { type Caller, expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { apiPidOf, killApi, timesOf, untilBack } from '../harness/kills.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const rounds = timesOf({ few: 8, all: 60 });
const workspaces = '/api/workspaces';
const app = (id: string) => `${workspaces}/${id}/apps/shop`;
const records = (id: string) => `${app(id)}/collections/orders/records`;
let server: TestServer;
let master: Caller;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
  ({ master } = await openStorefront(server.url));
  expectOk(await master.post(workspaces, { id: 'source', name: 'Source' }));
  expectOk(await master.post(`${workspaces}/source/apps`, { id: 'shop', name: 'Shop' }));
  const schema = { id: 'orders', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await master.post(`${app('source')}/collections`, { schema }));
  expectOk(await master.post(records('source'), { title: 'kept' }));
  expectOk(await master.put(`${app('source')}/hooks/hook.js`, { source: '// kept' }));
  const headers = { 'Content-Type': 'text/plain', 'X-Filename': 'kept.txt' };
  expectOk(await master.post(`${app('source')}/files`, 'kept', headers));
});
afterAll(() => server.stop());

/** A clone that is there is whole, and what it was made from, or that with one record more. */
async function expectWhole(id: string): Promise<number> {
  const { items } = expectOk(await master.get(`${records(id)}?sort=id`));
  expect(items[0]).toMatchObject({ fields: { title: 'kept' } });
  expect(expectOk(await master.get(`${app(id)}/hooks/hook.js`)).source).toBe('// kept');
  const files = expectOk(await master.get(`${app(id)}/files`)).items;
  expect((await master.get(`${app(id)}/files/${files[0].id}`)).text).toBe('kept');
  expectOk(await master.post(records(id), { title: 'more' }));
  return items.length;
}

async function killedDuring(work: () => Promise<unknown>, milliseconds: number): Promise<void> {
  const pid = await apiPidOf(server);
  // A connection that broke says nothing.
  const asked = work().catch(() => undefined);
  await pause(randomInt(milliseconds));
  await killApi(pid);
  await asked;
  await untilBack(server);
}

async function names(text: string): Promise<string[]> {
  const pool = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  try {
    const rows = await pool.run((sql) => sql.unsafe<{ name: string }[]>(text));
    return rows.map(({ name }) => name).sort();
  } finally {
    await pool.end();
  }
}

const known = `select name from control.tenant_databases`;
const unfinished = `${known} where state in ('creating', 'dropping')`;

it(`leaves a clone whole or not there in ${rounds} kills, and nothing else behind`, async () => {
  const start = performance.now();
  const body = (id: string) => ({ id, name: 'Clone', from: 'source' });
  expectOk(await master.post(workspaces, body('timed')));
  const took = Math.ceil(performance.now() - start);
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const id = `clone${round}`;
    await killedDuring(() => master.post(workspaces, body(id)), took + 50);
    const isThere = (await master.get(`${workspaces}/${id}`)).status === 200;
    if (!isThere) expectOk(await master.post(workspaces, body(id)));
    expect(await expectWhole(id)).toBe(1);
    await killedDuring(() => master.post(`${workspaces}/${id}/reset`), took);
    const isReset = await expectWhole(id) === 1;
    const outcome = `${isThere ? 'made' : 'not made'}, ${isReset ? 'reset' : 'not reset'}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    expectOk(await master.delete(`${workspaces}/${id}`));
  }
  console.log(outcomes);
  await expect.poll(() => names(unfinished), { timeout: 60_000 }).toEqual([]);
  expect(await names(`select datname as name from pg_database where datname like 'w\\_%'`)).toEqual(
    await names(known),
  );
  expect(await names(`select rolname as name from pg_roles where rolname like 'w\\_%'`)).toEqual(
    await names(known),
  );
  const template = await names(`${known} where state = 'template'`);
  await expect.poll(() => readdir(join(server.dataDir, 'hooks', '.copies'))).toEqual(template);
}, 600_000);
