// Turns of connections: who goes at once, who gathers work, and that nobody holds the others up.
import { expect, it, onTestFinished } from 'vitest';
import { Outage } from '../../../storage/connections/outage.ts';
import { Client } from '../../../storage/connections/client.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { ConnectionScheduler } from '../../../storage/connections/connection-scheduler.ts';
import { ownInstallation } from '../../harness/database.ts';

const forever = 2 ** 30;

/** Turns of connections that are only names, and who was admitted from the line, in order. */
function line(most: number, longest = forever) {
  const turns = new ConnectionScheduler<string>({ slots: most, maxTurnMs: longest });
  const admitted: string[] = [];
  const enter = (name: string) => {
    const turn = turns.enter(name);
    void turn?.then(() => admitted.push(name));
    return turn;
  };
  const leave = async (name: string) => {
    turns.leave(name);
    await Promise.resolve();
  };
  return { enter, leave, admitted };
}

it('has as many go at once as there are turns, each with all of its work', () => {
  const { enter } = line(2);
  for (const name of ['a', 'b', 'a', 'b', 'a']) expect(enter(name)).toBeUndefined();
  expect(enter('c')).toBeInstanceOf(Promise);
});

it('lets the next one go, with all that it has gathered, once a turn has no work left', async () => {
  const { enter, leave, admitted } = line(1);
  enter('a');
  enter('a');
  for (const name of ['b', 'c', 'b']) enter(name);
  await leave('a');
  expect(admitted).toEqual([]);
  await leave('a');
  expect(admitted).toEqual(['b', 'b']);
  await leave('b');
  expect(admitted).toEqual(['b', 'b']);
  await leave('b');
  expect(admitted).toEqual(['b', 'b', 'c']);
});

it('has one that holds a turn get in line for more while others wait', async () => {
  const { enter, leave, admitted } = line(1);
  enter('a');
  enter('b');
  expect(enter('a')).toBeInstanceOf(Promise);
  await leave('a');
  await leave('b');
  expect(admitted).toEqual(['b', 'a']);
});

it('takes a turn that lasts too long, and counts it no more when it ends', async () => {
  const { enter, leave, admitted } = line(1, 1);
  enter('slow');
  await enter('b');
  const last = enter('c');
  await leave('slow');
  expect(admitted).toEqual(['b']);
  await last;
  expect(admitted).toEqual(['b', 'c']);
});

/** Two pools of one connection each, of which one at a time has a turn. */
async function twoPools(longest: number) {
  const own = await ownInstallation();
  const turns = new ConnectionScheduler<Client>({ slots: 1, maxTurnMs: longest });
  const open = () =>
    new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now, scheduler: turns });
  const pools = [open(), open()] as const;
  onTestFinished(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await own.remove();
  });
  await Promise.all(pools.map((pool) => pool.warm()));
  return { own, pools };
}

const pid = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;

it('is not held up by a statement that waits for something', async () => {
  const { own, pools: [slow, quick] } = await twoPools(4);
  const order: string[] = [];
  await own.as({}, async (sql) => {
    await sql`select pg_advisory_lock(1)`;
    const waiting = slow.run((sql) => sql`select pg_advisory_lock(1)`).then(() => order.push('slow'));
    await quick.run(pid).then(() => order.push('quick'));
    await sql`select pg_advisory_unlock(1)`;
    await waiting;
  });
  expect(order).toEqual(['quick', 'slow']);
});

it('has a transaction go at once', async () => {
  const { own, pools: [slow, other] } = await twoPools(forever);
  await own.as({}, async (sql) => {
    await sql`select pg_advisory_lock(1)`;
    const waiting = slow.run((sql) => sql`select pg_advisory_lock(1)`);
    expect(await other.transaction(pid)).toBeGreaterThan(0);
    await sql`select pg_advisory_unlock(1)`;
    await waiting;
  });
});

it('goes on when a connection is lost that has a turn, or waits for one', async () => {
  const { own, pools: [lost, other] } = await twoPools(forever);
  await own.as({}, async (sql) => {
    await sql`select pg_advisory_lock(1)`;
    const backend = await lost.run(pid);
    const held = lost.run((sql) => sql`select pg_advisory_lock(1)`);
    const waiting = other.run(pid);
    const failed = Promise.allSettled([held, lost.run(pid)]);
    await sql`select pg_terminate_backend(${backend ?? 0})`;
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await waiting).toBeGreaterThan(0);
    expect(await lost.run(pid)).not.toBe(backend);
  });
});

it('leaves nothing behind where a connection cannot be opened', async () => {
  const own = await ownInstallation();
  onTestFinished(own.remove);
  const turns = new ConnectionScheduler<Client>({ slots: 1, maxTurnMs: forever });
  const options = { now: 0, onLost: () => undefined, outage: new Outage(), scheduler: turns };
  const nowhere = new Client({ ...own.access, database: 'nowhere' }, options);
  await expect(nowhere.run((sql) => pid(sql))).rejects.toThrow();
  const there = new Client(own.access, options);
  onTestFinished(() => there.close(1));
  expect(await there.run((sql) => pid(sql))).toBeGreaterThan(0);
});
