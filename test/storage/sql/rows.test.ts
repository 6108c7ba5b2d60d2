// Rows of one statement, outside of transactions and in them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RowBudget, RowsTooLarge, selectWithin } from '../../../storage/app/records/row-budget.ts';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { selectRows } from '../../../storage/sql/rows.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';

let own: OwnInstallation;
let pool: Pool;

beforeAll(async () => {
  own = await ownInstallation();
  pool = new Pool(own.access, { cap: 1, permits: unlimitedPermits, now: Date.now });
  await pool.run((sql) => sql.unsafe('create table public.kept (id int primary key, name text)'));
});
afterAll(async () => {
  await pool.end();
  await own.remove();
});

const inBoth: [string, <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>][] = [
  ['outside of a transaction', (work) => pool.run(work)],
  ['in a transaction', (work) => pool.transaction(work)],
];

describe.each(inBoth)('rows %s', (_name, within) => {
  it.each([true, false])(
    'are lists of values, of a statement that is prepared or not (%s)',
    async (prepare) => {
      const text = 'select $1::int, $2::text, null, true';
      const ask = () => within((sql) => selectRows(sql, { text, prepare }, [7, "it's"]));
      for (let time = 0; time < 3; time++) expect([...await ask()]).toEqual([[7, "it's", null, true]]);
    },
  );

  it('need no parameters', async () => {
    const ask = () => within((sql) => selectRows(sql, { text: 'select 1 where false', prepare: true }, []));
    expect([...await ask()]).toEqual([]);
    expect([...await ask()]).toEqual([]);
  });

  it('are dropped as they come when they exceed the budget', async () => {
    const statement = { text: "select repeat('x', 100) from generate_series(1, $1::int)", prepare: true };
    const ask = (budget: RowBudget) =>
      within((sql) => selectWithin(sql, statement, { params: [10], budget }));
    expect(await ask({ left: 1_000 })).toEqual(Array.from({ length: 10 }, () => ['x'.repeat(100)]));
    await expect(ask({ left: 999 })).rejects.toThrow(RowsTooLarge);
    const shared = { left: 1_999 };
    expect(await ask(shared)).toHaveLength(10);
    await expect(ask(shared)).rejects.toThrow(RowsTooLarge);
  });

  it('of a statement that fails are an error with its reason, and the next ones are not touched by it', async () => {
    const text = 'insert into public.kept (id) values ($1::int), ($1::int)';
    const insert = () => within((sql) => selectRows(sql, { text, prepare: true }, [1]));
    await expect(insert()).rejects.toMatchObject({ failure: 'conflict', constraint: 'kept_pkey' });
    const count = await within((sql) =>
      selectRows(sql, { text: 'select count(*) from public.kept', prepare: true }, [])
    );
    expect([...count]).toEqual([['0']]);
  });
});

describe('a lost connection', () => {
  it('ends what was sent on it, and the next statement has another one', async () => {
    const pid = async (sql: Sql) =>
      Number((await selectRows(sql, { text: 'select pg_backend_pid()', prepare: true }, []))[0]?.[0]);
    const before = await pool.run(pid);
    const sleeping = pool.run((sql) =>
      selectRows(sql, { text: 'select pg_sleep($1::int)', prepare: true }, [60])
    );
    const ended = expect(sleeping).rejects.toMatchObject({ failure: 'unavailable' });
    const isAsleep = 'select from pg_stat_activity where pid = $1::int and wait_event = $2::text';
    await expect.poll(() =>
      own.as({}, (sql) => selectRows(sql, { text: isAsleep, prepare: false }, [before, 'PgSleep']))
    ).toHaveLength(1);
    await own.as(
      {},
      (sql) => selectRows(sql, { text: 'select pg_terminate_backend($1::int)', prepare: false }, [before]),
    );
    await ended;
    expect(await pool.run(pid)).not.toBe(before);
  });
});
