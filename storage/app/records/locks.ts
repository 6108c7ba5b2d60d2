// Locks on the records that a transaction is about to change.
import type { Sql } from '../../connections/pool.ts';

/**
 * Locks records of a table (quoted and qualified) in the order of their ids, for changes that leave the id. Because of
 * the order, transactions that do the same wait for each other and do not deadlock. Ids without a record are ignored.
 */
export async function lockRecords(sql: Sql, table: string, ids: readonly string[]): Promise<void> {
  await sql.unsafe(
    `select from ${table} where id = any($1::uuid[]) order by id for no key update`,
    [[...ids]],
    { prepare: true },
  );
}
