// The budget of connections that several pools share.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PermitCount, type Permits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
const opened: Pool[] = [];

beforeAll(async () => {
  own = await ownInstallation();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.end()));
});
afterAll(() => own.remove());

function pool(cap: number, permits: Permits): Pool {
  const made = new Pool(own.access, { cap, permits, now: Date.now });
  opened.push(made);
  return made;
}

const ask = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
const nap = (sql: Sql) => sql`select pg_sleep(0.1)`;

describe('permits', () => {
  it('make the third wait for one of two, at most as long as is said', async () => {
    const permits = new PermitCount({ count: 2, timeoutMs: 50 });
    await permits.take();
    await permits.take();
    await expect(permits.take()).rejects.toMatchObject({ failure: 'unavailable' });
    expect(permits.wanted).toBe(false);
    const third = permits.take();
    expect(permits.wanted).toBe(true);
    permits.give();
    await third;
    expect(permits.tryTake()).toBe(false);
    permits.give();
    expect(permits.tryTake()).toBe(true);
  });

  it('are given to those who wait before anybody who comes later', async () => {
    const permits = new PermitCount({ count: 1, timeoutMs: 1_000 });
    await permits.take();
    const order: number[] = [];
    const waiters = [1, 2, 3].map((number) => permits.take().then(() => order.push(number)));
    permits.give();
    permits.give();
    permits.give();
    await Promise.all(waiters);
    expect(order).toEqual([1, 2, 3]);
  });

  it('are wanted anew once one that was promised is given', async () => {
    const permits = new PermitCount({ count: 1, timeoutMs: 1_000 });
    await permits.take();
    const first = permits.take();
    permits.promise();
    expect(permits.wanted).toBe(false);
    permits.give({ promised: true });
    await first;
    const second = permits.take();
    expect(permits.wanted).toBe(true);
    permits.give();
    await second;
  });

  it('are not given up by more pools than somebody waits for', async () => {
    const idle: { pool?: Pool } = {};
    const permits = new PermitCount({
      count: 3,
      timeoutMs: 5_000,
      reclaim: () => void idle.pool?.closeIdle(-1),
    });
    const [first, second, third, late] = [
      pool(1, permits),
      pool(1, permits),
      pool(1, permits),
      pool(1, permits),
    ];
    idle.pool = first;
    const before = await Promise.all([second, third].map((one) => one.run(ask)));
    await first.run(ask);
    let waiting = true;
    const use = async (one: Pool) => {
      while (waiting) await one.run(ask);
    };
    const others = Promise.all([use(second), use(third)]);
    expect(await late.run(ask)).toBeGreaterThan(0);
    waiting = false;
    await others;
    expect(first.size).toBe(0);
    expect(await Promise.all([second, third].map((one) => one.run(ask)))).toEqual(before);
  });

  it('bring a pool to close a connection as soon as it is idle while another waits', async () => {
    const permits = new PermitCount({ count: 1, timeoutMs: 5_000 });
    const first = pool(1, permits);
    const second = pool(1, permits);
    const busy = first.run(nap);
    const [, pid] = await Promise.all([busy, second.run(ask)]);
    expect(pid).toBeGreaterThan(0);
    expect(first.size).toBe(0);
  }, 10_000);
});
