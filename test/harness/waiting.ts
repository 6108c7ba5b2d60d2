// Who waits for whom in the database.
import type { Pool, Sql } from '../../storage/connections/pool.ts';
import type { ApiResponse } from './api.ts';

/** What changes, what is asked meanwhile, and what is done at last. */
export type Meanwhile = [
  change: (sql: Sql) => Promise<unknown>,
  ask: () => Promise<ApiResponse>,
  atLast?: (sql: Sql) => Promise<unknown>,
];

/** The response to what is asked during a transaction, which ends, after `atLast`, when the asker waits for it or is answered. */
export async function responseMeanwhile(
  pool: Pool,
  ...[change, ask, atLast]: Meanwhile
): Promise<ApiResponse> {
  let isOver = false;
  const answering = await pool.transaction(async (sql) => {
    await change(sql);
    const response = ask().finally(() => isOver = true);
    while (!isOver && !await somebodyWaits(sql));
    await atLast?.(sql);
    return { response };
  });
  return await answering.response;
}

/** Whether anybody waits for the end of this transaction. */
export async function somebodyWaits(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;
  return rows.length > 0;
}

/**
 * How many connections wait for a lock while they use this database, whosever it is. Asks for locks alone: what
 * `pg_stat_activity` says stays the same within a transaction.
 */
export async function howManyWait(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(distinct pid)::int as waiting from pg_locks where not granted and pid in (
      select pid from pg_locks join pg_database on pg_database.oid = database where datname = current_database())`;
  return row?.waiting ?? 0;
}
