// A database server that falls silent: its host is down, or it was stopped.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { listenForChanges, notifyChange } from '../../../storage/control/changes.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

const patience = 1_000;
const nap = (sql: Sql) => sql`select pg_sleep(2.5)`;
const ask = (sql: Sql) => sql`select 1 as one`;

let own: OwnInstallation;
let proxy: Server;
let port: number;
let pool: Pool;
/** Both ends of each connection through the proxy. */
let through: Socket[] = [];

beforeAll(async () => {
  own = await ownInstallation();
  proxy = createServer((near) => {
    const far = connect(`${own.access.host}/.s.PGSQL.${own.access.port}`);
    for (const [from, to] of [[near, far], [far, near]] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      through.push(from);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
beforeEach(() => {
  through = [];
  const endpoint = { ...own.access, host: '127.0.0.1', port };
  pool = new Pool(endpoint, { cap: 1, permits: unlimitedPermits, now: Date.now, silenceTimeoutMs: patience });
});
afterEach(() => pool.end());
afterAll(async () => {
  proxy.close();
  await own.remove();
});

/** From now on nothing comes through the connections that there are. */
function hush(): void {
  for (const socket of through) socket.unpipe().pause();
}

it('is given up: all that is in flight fails, and what comes later has another connection', async () => {
  await pool.run(ask);
  const closed = Promise.all(
    through.slice(0, 1).map((near) => new Promise((end) => near.once('close', end))),
  );
  hush();
  const broken = await Promise.allSettled([pool.run(ask), pool.transaction(ask), pool.run(ask)]);
  for (const outcome of broken) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { failure: 'unavailable' } });
  }
  expect([pool.size, pool.inFlight]).toEqual([0, 0]);
  expect(await pool.run(ask)).toEqual([{ one: 1 }]);
  // Noticed once it is read from again: what was stopped ends its side then.
  for (const socket of through) socket.resume();
  await closed;
});

it('is given up in the middle of a transaction, and before it has let anybody in', async () => {
  await expect(pool.transaction(async (sql) => {
    await ask(sql);
    hush();
    await ask(sql);
  })).rejects.toMatchObject({ failure: 'unavailable' });
  proxy.once('connection', () => setImmediate(hush));
  await expect(pool.run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
  expect(await pool.run(ask)).toEqual([{ one: 1 }]);
});

it('is waited for as long as a transaction allows, and without end when there is no limit', async () => {
  expect(await pool.transaction(nap, 60_000)).toHaveLength(1);
  await expect(pool.run(nap)).rejects.toMatchObject({ failure: 'unavailable' });
  const patient = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
  expect(await patient.run(nap)).toHaveLength(1);
  await patient.end();
});

it('is noticed by a listener at a ping, which then listens anew and resyncs', async () => {
  const heard: string[] = [];
  const listening = await listenForChanges({ ...own.access, host: '127.0.0.1', port }, {
    onChange: ({ kind }) => heard.push(kind),
    onResync: () => heard.push('gap'),
  });
  const tell = () => own.as({}, (sql) => notifyChange(sql, { kind: 'revocations' }));
  // No news are no silence.
  for (let questions = 0; questions < 5; questions++) await listening.ping();
  await tell();
  await expect.poll(() => heard).toEqual(['gap', 'revocations']);
  hush();
  await tell();
  await expect(listening.ping()).rejects.toMatchObject({ failure: 'unavailable' });
  await expect.poll(() => heard).toEqual(['gap', 'revocations', 'gap']);
  await tell();
  await expect.poll(() => heard).toEqual(['gap', 'revocations', 'gap', 'revocations']);
  await listening.stop();
});
