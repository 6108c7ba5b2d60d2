// What the apps of one workspace may have at work together, whatever each of them could have.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Databases } from '../../../storage/connections/databases.ts';
import { PermitCount, unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  own = await ownInstallation();
});
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});
afterAll(() => own.remove());

function make(count: number, timeoutMs = 60_000) {
  const share = new PermitCount({ count, timeoutMs });
  const pool = (cap: number, permits = unlimitedPermits) => {
    const made = new Pool(own.access, { cap, permits, share: { permits: share }, now: Date.now });
    ends.push(() => made.end());
    return made;
  };
  return { share, pool };
}

const ask = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;

/** Work that takes until it is released. */
function endless() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, letGo: resolve };
}

describe('a share of the work', () => {
  it('is of connections with work, not of open ones', async () => {
    const { pool } = make(1);
    const [first, second] = [pool(4), pool(4)];
    await first.run(ask);
    await second.run(ask);
    expect(await first.run(ask)).toBeGreaterThan(0);
    expect([first.size, second.size]).toEqual([1, 1]);
  });

  it('keeps a pool from another connection, but not from what it has already', async () => {
    const { share, pool } = make(1);
    const alone = pool(4);
    const { work, letGo } = endless();
    await alone.run(ask);
    const long = alone.run(work);
    expect(await alone.run(ask)).toBeGreaterThan(0);
    expect(alone.size).toBe(1);
    expect(share.wanted).toBe(false);
    letGo();
    await long;
  });

  it('has a pool without any wait, and those who have some wait behind it', async () => {
    const { share, pool } = make(2);
    const [busy, other] = [pool(2), pool(2)];
    const [first, second] = [endless(), endless()];
    const order: string[] = [];
    await busy.run(ask);
    const long = [busy.run(first.work), busy.run(second.work)];
    const others = other.run(ask).then(() => order.push('other'));
    expect(share.wanted).toBe(true);
    const more = busy.run(async (sql) => {
      order.push('busy');
      await ask(sql);
    });
    expect([busy.size, busy.inFlight]).toEqual([2, 2]);
    first.letGo();
    await others;
    second.letGo();
    await Promise.all([...long, more]);
    expect(order).toEqual(['other', 'busy']);
    expect([share.tryTake(), share.tryTake(), share.tryTake()]).toEqual([true, true, false]);
  });

  it('is given back by what fails, is lost, or finds no permit', async () => {
    const { share, pool } = make(1);
    const permits = new PermitCount({ count: 0, timeoutMs: 1 });
    await expect(pool(1, permits).run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
    const one = pool(1);
    await expect(one.run((sql) => sql`select 1 / 0`)).rejects.toThrow('division');
    const lost = one.transaction(async (sql) => {
      await sql`select pg_terminate_backend(pg_backend_pid())`;
    });
    await expect(lost).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await one.run(ask)).toBeGreaterThan(0);
    await one.end();
    expect([share.tryTake(), share.tryTake()]).toEqual([true, false]);
  });

  it('is waited for only for a while', async () => {
    const { pool } = make(1, 1);
    const { work, letGo } = endless();
    const long = pool(1).run(work);
    await expect(pool(1).run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
    letGo();
    await long;
  });

  it('is back when all is done, however the ends of work fall together', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { share, pool } = make(2);
      const [mine, another, third] = [pool(2), pool(1), pool(1)];
      await Promise.all([mine.run(ask), mine.run(ask)]);
      const [long, others, thirds] = [endless(), endless(), endless()];
      const under = [mine.run(long.work), another.run(others.work), third.run(thirds.work), mine.run(ask)];
      expect([mine.size, share.wanted]).toEqual([2, true]);
      others.letGo();
      await under[1];
      thirds.letGo();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      long.letGo();
      await Promise.all(under);
      expect([share.tryTake(), share.tryTake(), share.tryTake()]).toEqual([true, true, false]);
    }
  });
});

it('a pool that is closed while it waits for a permit keeps neither that nor its share', async () => {
  const { share, pool } = make(1);
  const permits = new PermitCount({ count: 1, timeoutMs: 60_000 });
  expect(permits.tryTake()).toBe(true);
  const closed = pool(1, permits);
  const asking = expect(closed.run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
  await expect.poll(() => permits.wanted).toBe(true);
  await closed.end();
  permits.give();
  await asking;
  expect([permits.tryTake(), share.tryTake()]).toEqual([true, true]);
});

it('a pool that finds no permit to open a connection ahead keeps no share', async () => {
  const { share, pool } = make(1);
  await pool(1, new PermitCount({ count: 0, timeoutMs: 60_000 })).warm();
  expect(share.tryTake()).toBe(true);
});

it('is one for all apps of a workspace, and neither for its identities nor for other workspaces', async () => {
  const databases = new Databases({
    provisioner: own.access,
    passwordOf: () => own.access.password,
    workspacePoolCap: 1,
    appPoolCap: 1,
    tenantConnections: 8,
    now: Date.now,
  });
  ends.push(() => databases.end());
  const { work, letGo } = endless();
  const begun: string[] = [];
  // No statement is sent: the server has no such databases and roles.
  const begin = (pool: Pool, name: string, work = () => Promise.resolve()) =>
    pool.run(() => {
      begun.push(name);
      return work();
    });
  const long = ['a', 'b', 'c', 'd'].map((role) => begin(databases.app('busy', role), role, work));
  await begin(databases.app('other', 'e'), 'another workspace');
  await begin(databases.workspace('busy'), 'identities');
  expect(begun).toEqual(['a', 'b', 'another workspace', 'identities']);
  letGo();
  await Promise.all(long);
  expect(begun).toHaveLength(6);
});
