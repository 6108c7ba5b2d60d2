// Prepared statements whose table changes under them: each response still reaches its own statement.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../../storage/connections/client.ts';
import { Outage } from '../../../storage/connections/outage.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { selectRows } from '../../../storage/sql/rows.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;

beforeAll(async () => {
  own = await ownInstallation();
});
afterAll(() => own.remove());

const text = 'select id, v from changing.t where id = $1::int';

async function makeTable(sql: Sql, type: string): Promise<void> {
  await sql.unsafe(`
    create schema if not exists changing;
    drop table if exists changing.t;
    create table changing.t (id int, v ${type});
    insert into changing.t select i, i from generate_series(1, 1000) i`);
}

/** Sends many statements at once, a few in each turn of the event loop, so that they are pipelined. */
async function askForMany(
  ask: (id: number) => Promise<unknown[][]>,
): Promise<PromiseSettledResult<unknown[][]>[]> {
  const asked: Promise<PromiseSettledResult<unknown[][]>[]>[] = [];
  for (let id = 1; id <= 200; id++) {
    asked.push(Promise.allSettled([ask(id)]));
    if (id % 7 === 0) await new Promise(setImmediate);
  }
  return (await Promise.all(asked)).flat();
}

describe('a prepared statement', () => {
  it('that is stale fails, and neither loses nor mixes up the responses behind it', async () => {
    const client = new Client(own.access, { now: 0, onLost: () => undefined, outage: new Outage() });
    const ask = (id: number) => selectRows(client.sql, { text, prepare: true }, [id]);
    const other = (id: number) => selectRows(client.sql, { text: 'select $1::int', prepare: true }, [id]);
    await own.as({}, (sql) => makeTable(sql, 'text'));
    expect(await ask(1)).toEqual([[1, '1']]);
    await other(1);
    await own.as({}, (sql) => makeTable(sql, 'int'));
    const responses = await askForMany((id) => id % 2 === 0 ? other(id) : ask(id));
    for (const [index, response] of responses.entries()) {
      const id = index + 1;
      if (id % 2 === 0) expect(response).toMatchObject({ status: 'fulfilled', value: [[id]] });
      else expect(response).toMatchObject({ status: 'rejected', reason: { code: '0A000' } });
    }
    await client.close(1);
  });

  it('costs a pool its connection, and nothing more', async () => {
    const pool = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
    const ask = () => pool.run((sql) => selectRows(sql, { text, prepare: true }, [5]));
    await own.as({}, (sql) => makeTable(sql, 'text'));
    expect(await ask()).toEqual([[5, '5']]);
    await own.as({}, (sql) => makeTable(sql, 'int'));
    await expect(ask()).rejects.toMatchObject({ failure: 'undefined' });
    expect(await ask()).toEqual([[5, 5]]);
    await pool.end();
  });

  it('does not outlive so many others that the server would have to keep, however busy its connection is', async () => {
    const pool = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
    const prepared = () =>
      pool.run((sql) =>
        sql.unsafe<{ pid: number; count: number }[]>(
          `select pg_backend_pid() as pid, (select count(*)::int from pg_prepared_statements) as count`,
        )
      );
    const [first] = await prepared();
    const prepare = (sql: Sql, count: number) =>
      sql.unsafe(`/* ${`${count}`.padEnd(65_536)} */ select $1::int`, [count], { prepare: true });
    for (let count = 1; count < 8; count++) {
      await pool.run((sql) => prepare(sql, count));
      await pool.run((sql) => prepare(sql, 1));
      expect((await prepared())[0]).toEqual({ pid: first?.pid, count });
    }
    // While something else is under way, in a transaction.
    await Promise.all([prepared(), pool.transaction((sql) => prepare(sql, 8))]);
    const [last] = await prepared();
    expect(last?.pid).not.toBe(first?.pid);
    expect(last?.count).toBe(0);
    await pool.end();
  });
});
