// A change that is committed while the other API process cannot be told of it: it must not go on by what was before for long.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { unlimited as anyRate } from '../harness/storefront.ts';

let server: TestServer;
let master: Caller;
let collection: string;
/** The provisioner, in the database of the workspace. */
let provisioner: Pool;
let schema: string;

beforeAll(async () => {
  server = await startServer({ config: { ...anyRate, api: { workers: 2 } } });
  master = await setUp(server.url);
  const app = await makeShop(master);
  collection = `${app}/collections/notes`;
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'notes', fields: [] } }));
  const control = poolOf('bulkhead');
  const [workspace] = await control.run((sql) => sql`select database from control.workspaces`);
  await control.end();
  provisioner = poolOf(String(workspace?.['database']));
  const [shop] = await provisioner.run((sql) => sql`select schema from workspace.apps`);
  schema = String(shop?.['schema']);
});
afterAll(async () => {
  await provisioner.end();
  await server.stop();
});

function poolOf(database: string): Pool {
  return new Pool(endpointOf(server.dataDir, database), { cap: 2, permits: unlimitedPermits, now: Date.now });
}

/** What an anonymous caller hears on so many connections that each process answers some. */
async function statuses(): Promise<Set<number>> {
  const anyone = as(undefined, server.url);
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => anyone.get(`${collection}/records`, { Connection: 'close' })),
  );
  return new Set(responses.map(({ status }) => status));
}

/** What a connection that listens has asked last. */
const listens = `(trim(query) = 'select' or query like 'listen %')`;

async function limitControl(connections: number): Promise<void> {
  await provisioner.run((sql) => sql.unsafe(`alter database bulkhead connection limit ${connections}`));
}

/** Ends connections to the control database, and answers how many. */
async function end(which: string): Promise<number> {
  const ended = await provisioner.run((sql) =>
    sql.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = 'bulkhead' and usename = current_user and ${which}`)
  );
  return ended.length;
}

/** Ends those that there are, and those that were about to be. */
async function endAll(which: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await end(which)).toBe(0);
  }, 10_000);
}

it('makes a rule count in the other process, too, when the control database was away just after it was set', async () => {
  expectOk(await master.put(`${collection}/access_rules/list`, { template: 'any' }));
  await expect.poll(statuses).toEqual(new Set([200]));

  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = provisioner.transaction(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`collections of ${schema}`}, 0))`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const setting = master.put(`${collection}/access_rules/list`, { template: 'admin' });
  await vi.waitUntil(async () => {
    const waiting = await provisioner.run((sql) =>
      sql`select from pg_locks join pg_database on database = pg_database.oid
        where datname = current_database() and locktype = 'advisory' and not granted`
    );
    return waiting.length > 0;
  }, { timeout: 10_000, interval: 20 });
  await limitControl(0);
  await endAll(`not ${listens}`);
  held.resolve();
  await holding;
  // It may take until the other could be told, or say that this was not possible so far.
  expect((await setting).status).toBe(503);
  await limitControl(-1);
  await expect.poll(statuses).toEqual(new Set([401]));
});

it('makes a rule count in a process that cannot listen any more', async () => {
  expectOk(await master.put(`${collection}/access_rules/list`, { template: 'any' }));
  await expect.poll(statuses).toEqual(new Set([200]));
  await limitControl(0);
  expect(await end(listens)).toBe(2);
  try {
    // Whoever would open another connection is refused.
    const set = () => master.put(`${collection}/access_rules/list`, { template: 'admin' });
    await expect.poll(async () => (await set()).status).toBe(200);
    await expect.poll(statuses).toEqual(new Set([401]));
  } finally {
    await limitControl(-1);
  }
});

it('lets nothing pass in a process that can neither listen nor read', async () => {
  expectOk(await master.put(`${collection}/access_rules/list`, { template: 'any' }));
  await expect.poll(statuses).toEqual(new Set([200]));
  await limitControl(0);
  try {
    await endAll('true');
    await expect.poll(statuses).toEqual(new Set([503]));
  } finally {
    await limitControl(-1);
  }
  await expect.poll(statuses).toEqual(new Set([200]));
});
