// A server that is killed while the index of a large collection is built: its successor drops what is left of it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { apiPidOf, killApi, untilBack } from '../harness/kills.ts';
import { describeTable, fillCollection } from '../harness/large-collection.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { somebodyWaits } from '../harness/waiting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const title = { name: 'title', kind: 'text' };

it('leaves no column and no index, and the change can be made again', async () => {
  const master = await setUp(server.url);
  const collections = `${await makeShop(master)}/collections`;
  expectOk(await master.post(collections, { schema: { id: 'orders', fields: [title] } }));
  const pool = await openDatabase();
  try {
    const schema = await fillCollection(pool, 'orders');
    const describe = () => pool.run((sql) => describeTable(sql, schema, 'orders'));
    const fields = [{ ...title, unique: true }, { name: 'more', kind: 'text', index: true }];
    const change = () => master.patch(`${collections}/orders`, { schema: { fields } });
    await pool.transaction(async (sql) => {
      // The first index is built, and waits for this snapshot.
      await sql.unsafe(`set transaction isolation level repeatable read; set local transaction_timeout = 0;
        set local idle_in_transaction_session_timeout = 0`);
      await sql.unsafe('select pg_current_snapshot()');
      const changing = change().catch(() => undefined);
      while (!await somebodyWaits(sql));
      await killApi(await apiPidOf(server));
      expect(await changing).toBeUndefined();
    });
    expect(await describe()).toContain('more: bulkhead: of a field that is being added');
    await untilBack(server);
    await expect.poll(describe, { timeout: 30_000 }).toEqual(['title']);
    expectOk(await change());
    expect(await describe()).toEqual(['index of more', 'index of title unique', 'more', 'title']);
  } finally {
    await pool.end();
  }
});

async function openDatabase(): Promise<Pool> {
  const open = (database: string) =>
    new Pool(endpointOf(server.dataDir, database), { cap: 1, permits: unlimitedPermits, now: Date.now });
  const control = open('bulkhead');
  const [row] = await control.run((sql) =>
    sql<{ database: string }[]>`select database from control.workspaces`
  );
  await control.end();
  return open(row?.database ?? '');
}
