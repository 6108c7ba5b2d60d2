// Records that a transaction is about to change, taken before it does.
import type { Sql } from '../../connections/pool.ts';

/**
 * Locks records of a table (quoted and qualified) in the order of their ids, for changes that leave the id: transactions that
 * do the same wait for each other in a line. Those that are not there are left out.
 */
export async function lockRecords(sql: Sql, table: string, ids: readonly string[]): Promise<void> {
  await sql.unsafe(
    `select from ${table} where id = any($1::uuid[]) order by id for no key update`,
    [[...ids]],
    { prepare: true },
  );
}
