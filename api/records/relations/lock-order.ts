// The order in which batches lock the records that they change: without one, two batches could deadlock.
import { usersId } from '../../../storage/workspace/identities.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { lockRecords } from '../../../storage/app/records/locks.ts';
import { planFor } from '../../../storage/app/records/plan.ts';
import type { Access } from '../../rules/access.ts';
import type { RecordTarget } from '../collection.ts';

/** A write of a record that may be there. */
interface Change {
  target: RecordTarget;
  access: Access;
  write: { readonly method: 'POST' } | { readonly method: 'PATCH' | 'DELETE'; readonly id: string };
}

/**
 * Locks the records that will be changed or deleted, by table and id. Only those of an admin: a caller whom the rule may yet
 * refuse must not hold up the writes of others.
 */
export async function lockInOrder(sql: Sql, changes: readonly Change[]): Promise<void> {
  const tables = new Map<string, Set<string>>();
  for (const { target: { app, collection }, access, write } of changes) {
    if (write.method === 'POST' || !access.unbounded || collection.id === usersId) continue;
    if (!isUuid(write.id)) continue;
    const { table } = planFor(app.schema, collection);
    tables.set(table, (tables.get(table) ?? new Set()).add(write.id));
  }
  // A single record needs no order.
  if (tables.size < 2 && [...tables.values()].every(({ size }) => size < 2)) return;
  for (const [table, ids] of [...tables].sort(([a], [b]) => a < b ? -1 : 1)) {
    await lockRecords(sql, table, [...ids]);
  }
}
