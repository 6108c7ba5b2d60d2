// One of two API processes dies: what it left half-done is finished by its successor, while the other goes on.
import { randomUUID } from 'node:crypto';
import { chown, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { endpointOf } from '../harness/database.ts';
import { killApi } from '../harness/kills.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';
import { unlimited as anyRate } from '../harness/storefront.ts';

let server: TestServer;
let master: Caller;
let app: string;
let database: string;
let schema: string;

beforeAll(async () => {
  server = await startServer({ config: { ...anyRate, api: { workers: 2 }, log: { level: 'debug' } } });
  master = await setUp(server.url);
  app = await makeShop(master);
  const [workspace] = await query<{ database: string }>(
    'bulkhead',
    'select database from control.workspaces',
  );
  database = workspace?.database ?? '';
  const [shop] = await query<{ schema: string }>(database, 'select schema from workspace.apps');
  schema = shop?.schema ?? '';
});
afterAll(() => server.stop());

/** As the provisioner, which every API process is too. */
async function query<Row extends object>(where: string, text: string, parameters: string[] = []) {
  const pool = new Pool(endpointOf(server.dataDir, where), {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
  });
  try {
    return await pool.run((sql) => sql.unsafe<Row[]>(text, parameters));
  } finally {
    await pool.end();
  }
}

const starts = () => server.output.filter((line) => line.includes('"api 1 is ready"'));

/** Kills the process that is not the first one, and waits for its successor. */
async function killSecond(): Promise<void> {
  const before = starts();
  await killApi(JSON.parse(before.at(-1) ?? '{}').pid);
  await vi.waitUntil(() => starts().length > before.length, { timeout: 20_000, interval: 10 });
}

/** Asks on connections of their own, so many that each process answers some. */
const many = (path: string) =>
  Promise.all(
    Array.from({ length: 20 }, () => as(master.token, server.url).get(path, { Connection: 'close' })),
  );

it('brings back the hook files that were aside for a deletion which was not committed', async () => {
  const source = `onRecordBeforeCreate('orders', () => false);`;
  expectOk(await master.put(`${app}/hooks/a.js`, { source }));
  const hooks = join(server.dataDir, 'hooks');
  const aside = join(hooks, '.leaving', `acme.shop.${schema}`);
  await mkdir(join(hooks, '.leaving'), { recursive: true });
  // As the server's own user would make it.
  const { uid, gid } = await stat(hooks);
  await chown(join(hooks, '.leaving'), uid, gid);
  await rename(join(hooks, 'acme', 'shop'), aside);
  await killSecond();
  expect(await readdir(join(hooks, 'acme', 'shop'))).toEqual(['a.js']);
  expect(await readdir(join(hooks, '.leaving'))).toEqual([]);
});

it('has the other process read again what it changed and told nobody of', async () => {
  expect(new Set((await many(app)).map(({ body }) => body.name))).toEqual(new Set(['Shop']));
  await query(database, `update workspace.apps set name = 'Renamed'`);
  await killSecond();
  await expect.poll(async () => new Set((await many(app)).map(({ body }) => body.name))).toEqual(
    new Set(['Renamed']),
  );
});

it('seals what it wrote into audit logs', async () => {
  const unsealed = () => query(database, 'select id from workspace.audit_queue');
  // The first start may be looking through the logs still, and find what was not meant for it.
  await vi.waitUntil(async () => {
    await query(
      database,
      `insert into workspace.audit_log (id, ts, actor, action, target, details)
       values ($1, now(), 'system', 'unheard', 'x', '{}')`,
      [randomUUID()],
    );
    return (await unsealed()).length > 0;
  }, { timeout: 20_000, interval: 1_000 });
  await killSecond();
  await vi.waitUntil(async () => (await unsealed()).length === 0, { timeout: 20_000, interval: 50 });
});
