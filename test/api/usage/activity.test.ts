// The activity of apps: it survives a lost connection, and is deleted after 24 hours.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ActivityMeter, beginningOfDay } from '../../../api/usage/activity.ts';
import type { AppDefinition } from '../../../storage/definition.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { sumActivity } from '../../../storage/control/usage.ts';
import { type BareApp, bareApp, created } from '../../harness/bare-app.ts';

const hour = 3_600_000;
let own: BareApp;
let app: AppDefinition;
let now = created;
let meter: ActivityMeter;

beforeAll(async () => {
  own = await bareApp();
  app = await own.definition();
});
beforeEach(async () => {
  now = created;
  meter = new ActivityMeter({ databases: own.deps.databases, now: () => now, observe: () => undefined });
  await own.deps.databases.control.run((sql) => sql`delete from control.usage`);
});
afterAll(() => own.end());

const known = (since: Date) =>
  own.deps.databases.control.run((sql) => sumActivity(sql, { workspace: 'acme', schema: app.schema, since }));

/** The connection that waits for the table, which this transaction has locked. */
async function whoWaits(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ pid: number }[]>`
    select pid from pg_locks join pg_database as own on own.oid = database
    where not granted and relation = 'control.usage'::regclass and datname = current_database()`;
  return row?.pid;
}

it('is added the next time where the connection broke, together with what came since', async () => {
  meter.request(app);
  meter.hookRun(app);
  await own.deps.databases.control.transaction(async (sql) => {
    await sql`lock table control.usage`;
    const adding = meter.flush();
    const broken = expect(adding).rejects.toMatchObject({ failure: 'unavailable' });
    let waiting: number | undefined;
    while (waiting === undefined) waiting = await whoWaits(sql);
    meter.request(app);
    await sql`select pg_terminate_backend(${waiting})`;
    await broken;
  });
  meter.request(app);
  await meter.flush();
  expect(await known(beginningOfDay(now))).toEqual({ requests: 3, hook_runs: 1, hook_cpu_ms: 0 });
  await meter.flush();
  expect(await known(beginningOfDay(now))).toEqual({ requests: 3, hook_runs: 1, hook_cpu_ms: 0 });
  await meter.close();
});

it('is added by a flush that begins during another', async () => {
  meter.request(app);
  let looked: Promise<void> | undefined;
  await own.deps.databases.control.transaction(async (sql) => {
    await sql`lock table control.usage`;
    void meter.flush();
    while (await whoWaits(sql) === undefined);
    meter.request(app);
    looked = meter.flush();
  });
  await looked;
  expect(await known(beginningOfDay(now))).toEqual({ requests: 2, hook_runs: 0, hook_cpu_ms: 0 });
  await meter.close();
});

it('counts for 24 hours, the one under way included, and is removed after them', async () => {
  const first = beginningOfDay(now);
  meter.request(app);
  await meter.flush();
  now = new Date(created.getTime() + 23 * hour);
  meter.request(app);
  await meter.flush();
  expect(await known(beginningOfDay(now))).toEqual({ requests: 2, hook_runs: 0, hook_cpu_ms: 0 });
  now = new Date(created.getTime() + 24 * hour);
  meter.request(app);
  await meter.flush();
  expect(await known(beginningOfDay(now))).toEqual({ requests: 2, hook_runs: 0, hook_cpu_ms: 0 });
  expect(await known(first)).toEqual({ requests: 2, hook_runs: 0, hook_cpu_ms: 0 });
  await meter.close();
});
