// Pools: as many connections as allowed, none lost, none held for nothing.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { StorageError } from '../../../storage/errors.ts';
import { PermitCount, type Permits, unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
const opened: Pool[] = [];
let now = 1_000_000;

beforeAll(async () => {
  own = await ownInstallation();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.end()));
});
afterAll(() => own.remove());

function pool(cap: number, permits: Permits = unlimitedPermits): Pool {
  const made = new Pool(own.access, { cap, permits, now: () => now });
  opened.push(made);
  return made;
}

const ask = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
const nap = (sql: Sql) => sql`select pg_sleep(0.1)`;

describe('a pool', () => {
  it('opens nothing until it is needed, and one connection for work in sequence', async () => {
    const own = pool(4);
    expect(own.size).toBe(0);
    const first = await own.run(ask);
    expect(await own.run(ask)).toBe(first);
    expect(own.size).toBe(1);
  });

  it('never holds more than its cap, also when a cold burst arrives', async () => {
    const own = pool(3);
    const pids = await Promise.all(Array.from({ length: 50 }, () => own.run(ask)));
    expect(new Set(pids).size).toBeLessThanOrEqual(3);
    expect(own.size).toBeLessThanOrEqual(3);
    expect(own.inFlight).toBe(0);
  });

  it('lets a statement pass by a transaction on another connection', async () => {
    const own = pool(2);
    await own.transaction(async () => {
      expect(await own.run(ask)).toBeGreaterThan(0);
    });
  });

  it('rolls a transaction back when its work throws, and translates what the driver throws', async () => {
    const own = pool(1);
    await own.run((sql) => sql`create table if not exists public.t (id int primary key)`);
    await expect(own.transaction(async (sql) => {
      await sql`insert into public.t values (1)`;
      throw new RangeError('changed our mind');
    })).rejects.toThrow(RangeError);
    await expect(own.run((sql) => sql`insert into public.t values (2), (2)`)).rejects.toMatchObject({
      failure: 'conflict',
      constraint: 't_pkey',
    });
    expect(await own.run((sql) => sql`select * from public.t`)).toEqual([]);
    expect(own.inFlight).toBe(0);
  });

  it('reports two changes of one catalog row at once, for which PostgreSQL has no code, like other clashes', async () => {
    const own = pool(3);
    const grant = (sql: Sql) => sql.unsafe('grant connect on database ' + database + ' to public');
    const database = `"${(await own.run((sql) => sql`select current_database() as name`))[0]?.['name']}"`;
    const waits = (sql: Sql) =>
      sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'grant connect%'`;
    const later = await own.transaction(async (sql) => {
      await grant(sql);
      const second = own.transaction(grant).then(() => undefined, (error: unknown) => error);
      await expect.poll(() => own.run(waits)).toHaveLength(1);
      return { second };
    });
    expect(await later.second).toMatchObject({ failure: 'serialization' });
  });

  it('finds nothing without its schema, so that no tenant object can be met by accident', async () => {
    expect(await pool(1).run((sql) => sql`show search_path`)).toEqual([{ search_path: '""' }]);
  });

  it('fails what was in flight on a killed backend, and works again with the next statement', async () => {
    const own = pool(1);
    const pid = await own.run(ask);
    const waiting = own.run((sql) => sql`select pg_sleep(30)`);
    const broken = own.transaction(async (sql) => {
      await sql`select 1`;
      await sql`select pg_sleep(30)`;
    });
    const failed = expect(waiting).rejects.toMatchObject({ failure: 'unavailable' });
    const alsoFailed = expect(broken).rejects.toMatchObject({ failure: 'unavailable' });
    const other = pool(1);
    await other.run((sql) => sql`select pg_terminate_backend(${pid})`);
    await Promise.all([failed, alsoFailed]);
    expect(await own.run(ask)).not.toBe(pid);
    expect(own.inFlight).toBe(0);
  });

  it('settles everything, and only with unavailable, while its backends are killed under load', async () => {
    const own = pool(4);
    const killer = pool(1);
    let stop = false;
    let answered = 0;
    const unexpected: unknown[] = [];
    const note = (error: unknown) => {
      if (!(error instanceof StorageError && error.failure === 'unavailable')) unexpected.push(error);
    };
    const worker = async (number: number) => {
      while (!stop) {
        const work = number % 2 === 0 ? own.run(ask) : own.transaction(async (sql) => {
          await ask(sql);
          await new Promise(setImmediate);
          await ask(sql);
        });
        await work.then(() => answered++, note);
      }
    };
    const workers = Array.from({ length: 32 }, (_, number) => worker(number));
    for (let round = 0; round < 40; round++) {
      await killer.run((sql) =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
          order by random() limit 2`
      );
      const before = answered;
      while (answered < before + 20) await new Promise(setImmediate);
    }
    stop = true;
    await Promise.all(workers);
    expect(unexpected).toEqual([]);
    expect(own.inFlight).toBe(0);
    expect(own.size).toBeLessThanOrEqual(4);
  });

  it('never goes on with a transaction on another connection', async () => {
    const own = pool(1);
    await own.run((sql) => sql`create table if not exists public.half (id int)`);
    const broken = own.transaction(async (sql) => {
      const pid = await ask(sql);
      await sql`insert into public.half values (1)`;
      await pool(1).run((other) => other`select pg_terminate_backend(${pid}, 5000)`);
      // As a feature would that awaits something else in between.
      await pause(50);
      await sql`insert into public.half values (2)`;
    });
    await expect(broken).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await own.run((sql) => sql`select * from public.half`)).toEqual([]);
  });

  it('requests TLS when it is set to, and accepts a refusal only when it may', async () => {
    const reach = (ssl: 'prefer' | 'require' | 'verify-full') => {
      const made = new Pool({ ...own.access, ssl }, { cap: 1, permits: unlimitedPermits, now: () => now });
      opened.push(made);
      return made.run(ask);
    };
    expect(await reach('prefer')).toBeGreaterThan(0);
    await expect(reach('require')).rejects.toMatchObject({ failure: 'unavailable' });
    await expect(reach('verify-full')).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it('is unavailable when there is no server', async () => {
    const nowhere = new Pool({ ...own.access, host: '/nowhere' }, {
      cap: 1,
      permits: unlimitedPermits,
      now: () => now,
    });
    opened.push(nowhere);
    await expect(nowhere.run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
    await nowhere.warm();
    expect(nowhere.inFlight).toBe(0);
  });

  it('closes what was not used for a while, and gives the permits back', async () => {
    const permits = new PermitCount({ count: 2, timeoutMs: 100 });
    const own = pool(2, permits);
    await Promise.all([own.run(nap), own.run(nap)]);
    expect(own.size).toBe(2);
    expect(permits.tryTake()).toBe(false);
    now += 29_999;
    await own.closeIdle(30_000);
    expect(own.size).toBe(2);
    now += 1;
    await own.closeIdle(30_000);
    expect(own.size).toBe(0);
    expect([permits.tryTake(), permits.tryTake(), permits.tryTake()]).toEqual([true, true, false]);
  });

  it('finishes what is in flight when it ends, and refuses what comes after', async () => {
    const own = pool(1);
    const running = own.run(nap);
    await own.run(ask);
    const late = own.run(nap);
    await own.end();
    await expect(running).resolves.toHaveLength(1);
    await expect(late).resolves.toHaveLength(1);
    await expect(own.run(ask)).rejects.toMatchObject({ failure: 'unavailable' });
    await expect(own.transaction(ask)).rejects.toThrow(StorageError);
  });

  it('is warm before the first statement', async () => {
    const own = pool(1);
    await own.warm();
    expect(own.size).toBe(1);
    expect(own.inFlight).toBe(0);
  });

  it('begins a transaction behind any number of statements', async () => {
    const own = pool(1);
    await own.warm();
    for (let ahead = 98; ahead <= 102; ahead++) {
      const asked = [own.run(nap), ...Array.from({ length: ahead - 1 }, () => own.run(ask))];
      // By then they have been sent, and the server still naps.
      await new Promise(setImmediate);
      expect(await own.transaction(ask)).toBeGreaterThan(0);
      await Promise.all(asked);
    }
  });

  it('does not slow down while more is in flight than it has connections', async () => {
    const own = pool(4);
    const batch = async (statements: number) => {
      const start = process.cpuUsage();
      let left = statements;
      await Promise.all(Array.from({ length: 64 }, async () => {
        while (left-- > 0) await own.run(ask);
      }));
      const { user, system } = process.cpuUsage(start);
      return (user + system) / statements;
    };
    await batch(4_000);
    const first = await batch(8_000);
    await batch(16_000);
    const last = await batch(8_000);
    console.log(`CPU µs a statement: first ${first.toFixed(1)}, after 28,000 more ${last.toFixed(1)}`);
    expect(last).toBeLessThan(first * 1.5);
  });
});
