// Lost connections, on a cluster of one process's own.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { type Connection, type Endpoint, Pool } from '../../../storage/connections/pool.ts';
import { ConnectionNames } from '../../../storage/connections/connection-names.ts';
import { LostConnections } from '../../../storage/connections/lost-connections.ts';
import { ask, makeTestCluster, type TestCluster } from '../../harness/cluster.ts';

const tenant = 'w_1';
let cluster: TestCluster;
let access: Endpoint;
let control: Pool;
let sessions: ConnectionNames;
let lostSessions: LostConnections;
let open: Pool[] = [];
/** Resolves with the end of the next check. */
let looked = Promise.withResolvers<void>();

const pool = (database: string, of?: ConnectionNames) => {
  const made = new Pool({ ...access, database }, {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
    connectionNames: of,
  });
  open.push(made);
  return made;
};
const greet = (on: Pool) => on.run((sql) => sql`select`);

beforeAll(async () => {
  cluster = await makeTestCluster();
  const postgres = await cluster.prepare();
  await postgres.start();
  await ask(postgres, `create database ${tenant}`);
  access = { ...postgres.access, ssl: 'disable' };
});
beforeEach(() => {
  control = pool(access.database);
  sessions = new ConnectionNames();
  const observed: Connection = {
    run: (work) => control.run(work).finally(() => looked.resolve()),
    transaction: (work) => control.transaction(work),
  };
  lostSessions = new LostConnections(observed, sessions);
});
afterEach(async () => {
  lostSessions.close();
  await Promise.all(open.map((each) => each.end()));
  open = [];
});
afterAll(() => cluster.remove());

/** True when they have ended, by two checks, the first of which may have begun too early. */
async function areGone(): Promise<boolean> {
  const gone = lostSessions.whenEnded().then(() => true);
  for (let looks = 0; looks < 2; looks++) {
    looked = Promise.withResolvers();
    if (await Promise.race([gone, looked.promise.then(() => false)])) return true;
  }
  return false;
}

it('there are none besides the sessions of this process, and those with no tenant', async () => {
  await greet(pool(tenant, sessions));
  await greet(pool(access.database, new ConnectionNames()));
  await greet(pool(tenant));
  await lostSessions.whenEnded();
});

it('those of a process before it are, until they have ended', async () => {
  const before = pool(tenant, new ConnectionNames());
  await greet(before);
  expect(await areGone()).toBe(false);
  const gone = lostSessions.whenEnded();
  await before.end();
  await gone;
});

it('those that this process has lost are, until they have ended', async () => {
  const patience = 100;
  const impatient = new Pool({ ...access, database: tenant }, {
    cap: 1,
    permits: unlimitedPermits,
    now: Date.now,
    connectionNames: sessions,
    silenceTimeoutMs: patience,
  });
  open.push(impatient);
  await greet(impatient);
  const lost = impatient.run((sql) => sql`select pg_sleep(3)`);
  await expect(lost).rejects.toMatchObject({ failure: 'unavailable' });
  expect(await areGone()).toBe(false);
  await lostSessions.whenEnded();
  const [row] = await control.run((sql) =>
    sql<{ count: number }[]>`select count(*)::int as count from pg_stat_activity where datname = ${tenant}`
  );
  expect(row?.count).toBe(0);
});

it('can be waited for again right after they have ended', async () => {
  await lostSessions.whenEnded();
  await lostSessions.whenEnded();
});

it('are only those that were there when the wait began', async () => {
  const before = pool(tenant, new ConnectionNames());
  await greet(before);
  expect(await areGone()).toBe(false);
  const gone = lostSessions.whenEnded();
  // Under load some connection is about to end at each check.
  const later = pool(tenant, new ConnectionNames());
  looked = Promise.withResolvers();
  await looked.promise;
  await greet(later);
  await before.end();
  await gone;
});

it('cannot be found to have ended while the database does not respond', async () => {
  await cluster.stop();
  expect(await areGone()).toBe(false);
  const gone = lostSessions.whenEnded();
  await (await cluster.prepare()).start();
  await gone;
});
