// All pools of a process: one budget, and the control database apart from it.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Databases } from '../../../storage/connections/databases.ts';
import type { Pool, Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
const opened: Databases[] = [];

beforeAll(async () => {
  own = await ownInstallation();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((databases) => databases.end()));
});
afterAll(() => own.remove());

function make(tenantConnections: number): Databases {
  const databases = new Databases({
    provisioner: own.access,
    passwordOf: () => own.access.password,
    workspacePoolCap: 4,
    appPoolCap: 4,
    tenantConnections,
    now: Date.now,
  });
  opened.push(databases);
  return databases;
}

const backend = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
const nap = (seconds: number) => (sql: Sql) => sql`select pg_sleep(${seconds}::float8)`;

/** Two pools of the same role: only their names differ here. */
const names = (databases: Databases) => ({
  first: databases.provisioner('bulkhead'),
  second: databases.provisioner(own.access.database),
});

it('closes the pool that was idle longest for one that needs a connection', async () => {
  const databases = make(1);
  const { first, second } = names(databases);
  await first.run(nap(0));
  await second.run(nap(0));
  expect([first.size, second.size]).toEqual([0, 1]);
});

it('takes one connection from a pool that was just busy with several, not all of them', async () => {
  const databases = make(3);
  const busy = databases.app('bulkhead', own.access.username);
  const other = databases.app(own.access.database, own.access.username);
  // The first connection alone may wait; the others are opened beside it.
  await busy.run(nap(0));
  await Promise.all([1, 2, 3].map(() => busy.run(nap(0.05))));
  expect(busy.size).toBe(3);
  await other.run(nap(0));
  expect([busy.size, other.size]).toEqual([2, 1]);
});

it('is unavailable after 2 s when no connection comes free, without holding up the control database', async () => {
  const databases = make(1);
  const { first, second } = names(databases);
  const busy = first.run(nap(2.5));
  const start = performance.now();
  const refused = second.run(nap(0)).catch((error: unknown) => error);
  await databases.control.run(nap(0));
  expect(performance.now() - start).toBeLessThan(1_000);
  expect(await refused).toMatchObject({
    failure: 'unavailable',
    message: 'all database connections are busy',
  });
  const waited = performance.now() - start;
  expect(waited).toBeGreaterThan(1_900);
  expect(waited).toBeLessThan(2_400);
  await busy;
});

it('lets pools that are always at work keep their connections for a while when there are too few of them', async () => {
  const databases = make(1);
  const { first, second } = names(databases);
  const backends = new Set<number | undefined>();
  const started = performance.now();
  const ask = async (pool: Pool) => {
    let responses = 0;
    for (; performance.now() < started + 600; responses++) backends.add(await pool.run(backend));
    return responses;
  };
  const responses = await Promise.all([ask(first), ask(first), ask(second), ask(second)]);
  for (const some of responses) expect(some).toBeGreaterThan(0);
  // One is opened every 20 ms at most, which timers make 19 of now and then.
  expect(backends.size).toBeLessThan((performance.now() - started) / 19 + 2);
});

it('takes a connection even from a pool that is never idle', async () => {
  const databases = make(1);
  const { first, second } = names(databases);
  let isAsked = true;
  const ask = async () => {
    while (isAsked) await first.run(nap(0.01));
  };
  // Before the first has opened its connection, there is nothing to be taken.
  const busy = [ask(), ask(), ask()];
  expect(await second.run(backend)).toBeGreaterThan(0);
  isAsked = false;
  await Promise.all(busy);
});

it('serves two hundred pools with a handful of connections: a result or unavailable, never another error', async () => {
  const databases = make(5);
  const pools = Array.from(
    { length: 8 },
    (_, at) => at % 2 === 0 ? names(databases).first : names(databases).second,
  );
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, at) => pools[at % pools.length]?.run(nap(0.001))),
  );
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of failures) expect(reason).toMatchObject({ failure: 'unavailable' });
  expect(outcomes.length - failures.length).toBeGreaterThan(100);
});

it('gives a session a connection of its own, closed afterwards', async () => {
  const databases = make(1);
  const session = await databases.onOwnConnection(backend);
  expect(session).not.toBe(await databases.control.run(backend));
  const alive = await databases.control.run((sql) =>
    sql`select 1 from pg_stat_activity where pid = ${session ?? 0}`
  );
  expect(alive).toHaveLength(0);
});

it('visits a database on a connection of its own, which no tenant has to give up, one at a time', async () => {
  const databases = make(1);
  const { first } = names(databases);
  const kept = await first.run(backend);
  let open = 0;
  const visit = () =>
    databases.visit(own.access.database, async (connection) => {
      const visiting = await connection.run(backend);
      expect(++open).toBe(1);
      expect(visiting).not.toBe(await first.run(backend));
      open--;
    });
  await Promise.all([visit(), visit()]);
  expect(await first.run(backend)).toBe(kept);
});

it('closes one role or a whole database, and opens it again when it is needed', async () => {
  const databases = make(4);
  const { first, second } = names(databases);
  await Promise.all([first.run(nap(0)), second.run(nap(0))]);
  await databases.closePools('bulkhead', 'nobody');
  expect(first.size).toBe(1);
  await databases.closePools('bulkhead');
  expect([first.size, second.size]).toEqual([0, 1]);
  await expect(first.run(nap(0))).rejects.toMatchObject({ failure: 'unavailable' });
  await names(databases).first.run(nap(0));
});
