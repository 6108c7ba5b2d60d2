// Who waits for whom in the database.
import type { Sql } from '../../storage/pool.ts';

/** Whether anybody waits for the end of this transaction. */
export async function somebodyWaits(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_locks
    where locktype = 'transactionid' and transactionid = pg_current_xact_id()::xid and not granted`;
  return rows.length > 0;
}
