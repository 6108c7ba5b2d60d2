// Jobs whose file is loaded while the control database cannot take them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { endpointOf } from '../../../harness/database.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { makeShop, permitFrequentJobs, setUp } from '../../../harness/set-up.ts';

let server: TestServer;
let admin: Caller;
let hooks: string;

beforeAll(async () => {
  server = await startServer();
  admin = await setUp(server.url);
  await permitFrequentJobs(admin);
  hooks = `${await makeShop(admin)}/hooks`;
});
afterAll(() => server.stop());

it('run once it can', async () => {
  const control = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  await control.transaction(async (sql) => {
    await sql`lock table control.hook_jobs`;
    const source = "cronAdd('late', '* * * * * *', () => console.log('ran at last'));";
    expectOk(await admin.put(`${hooks}/jobs.js`, { source }));
    await server.line('remember the jobs of hooks');
  }).finally(() => control.end());
  const messages = async () =>
    expectOk(await admin.get(`${hooks}/logs`)).items.map(({ message }: { message: string }) => message);
  await expect.poll(messages, { timeout: 30_000 }).toContain('ran at last');
});
