// Audit logs over the life of a server: several processes seal one chain, a start seals what is left, retention removes.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { workspaceChain } from '../../storage/audit/chain.ts';
import { type ChainVerdict, verifyChain } from '../../storage/audit/verify.ts';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { Secrets } from '../../storage/secrets.ts';
import { type Caller, expectOk } from '../harness/api.ts';
import { endpointOf, masterKeyOf } from '../harness/database.ts';
import { type ServerSettings, startServer, type TestServer } from '../harness/server.ts';
import { logInMaster, setUp } from '../harness/set-up.ts';

const day = 86_400_000;
const several = { 'api.workers': 2, 'rate_limit.enabled': false };
let server: TestServer;
let master: Caller;
/** Rows that no process has heard of: two, or more where the first start found some. */
let left = 0;

beforeAll(async () => {
  server = await startServer({ keep: true, config: several });
  master = await setUp(server.url);
  expectOk(await master.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
});
afterAll(async () => {
  await server.stop();
  await rm(dirname(server.dataDir), { recursive: true, force: true });
});

/** Does something on the workspace's log as the provisioner, on a connection of its own. */
async function onLog<Result>(work: (pool: Pool, database: string) => Promise<Result>): Promise<Result> {
  const options = { cap: 1, permits: unlimitedPermits, now: Date.now };
  const control = new Pool(endpointOf(server.dataDir, 'bulkhead'), options);
  const [row] = await control.run((sql) =>
    sql<{ database: string }[]>`select database from control.workspaces`
  );
  await control.end();
  const database = row?.database ?? '';
  const pool = new Pool(endpointOf(server.dataDir, database), options);
  try {
    return await work(pool, database);
  } finally {
    await pool.end();
  }
}

const verify = (): Promise<ChainVerdict> =>
  onLog((pool, database) => {
    const key = new Secrets(masterKeyOf(server.dataDir));
    return verifyChain(pool, workspaceChain(database), { key });
  });

/** Appends as no request does, so that no process hears of it. */
const appendUnheard = (ts: Date) =>
  onLog((pool) =>
    pool.run((sql) =>
      sql`insert into workspace.audit_log (id, ts, actor, action, target, details)
        values (${randomUUID()}, ${ts}, 'system', 'unheard', 'x', '{}')`
    )
  );

async function again(config: ServerSettings): Promise<void> {
  await server.stop();
  const { dataDir } = server;
  server = await startServer({ keep: true, dataDir, config });
}

it('audit.integrity: a start seals what a process that died has left', async () => {
  // The first start may be looking through the logs still, and find what was not meant for it.
  await expect.poll(async () => {
    await appendUnheard(new Date());
    await appendUnheard(new Date(Date.now() - 3 * day));
    left += 2;
    return await verify();
  }).toMatchObject({ waiting: 2, faulty: 0 });
  await again(several);
  master = await logInMaster(server.url);
  await vi.waitFor(async () => {
    expect(await verify()).toMatchObject({ sound: left, waiting: 0, faulty: 0 });
  }, { timeout: 15_000, interval: 100 });
});

it('audit.integrity: processes that append at the same time seal one chain, each row within a second', async () => {
  const acts = Array.from(
    { length: 40 },
    (_none, index) =>
      master.post('/api/workspaces/acme/apps', { id: `app-${index % 4}`, name: `App ${index}` }),
  );
  const statuses = (await Promise.all(acts)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(4);
  await vi.waitFor(async () => {
    expect(await verify()).toMatchObject({ sound: left + 4, waiting: 0, faulty: 0 });
  }, { timeout: 1_000, interval: 50 });
});

it('audit.integrity: retention leaves a chain that holds, and says what it removed', async () => {
  await onLog((pool) =>
    pool.transaction((sql) =>
      sql.unsafe(`set local role bulkhead_auditor;
        update workspace.audit_log set ts = now() - interval '3 days' where id in (
          select id from workspace.audit_seals where seq <= 2)`)
    )
  );
  await again({ 'audit.retention_days': 1 });
  await server.line('"audit_pruned"');
  await vi.waitFor(async () => {
    expect(await verify()).toMatchObject({ removed: 2, sound: left + 2, faulty: 0, head: { seq: left + 4 } });
  }, { timeout: 5_000, interval: 100 });
  master = await logInMaster(server.url);
  const list = expectOk(await master.get('/api/workspaces/acme/audit'));
  expect(list.total_items).toBe(left + 2);
});
