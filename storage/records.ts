// The records of a collection: one statement each.
import type { Stored } from './fields/kind.ts';
import type { Sql } from './pool.ts';
import type { RecordPlan, SortKey, StoredRecord } from './record-plan.ts';

type Rows = Record<string, unknown>[];
const prepared = { prepare: true };

/** A new record: every field's value in the plan's order, null where it is empty. */
export interface NewRecord {
  id: string;
  now: string;
  values: readonly (Stored | null)[];
}

/** New values for some fields, named by their positions in the plan. */
export interface RecordChange {
  id: string;
  now: string;
  positions: readonly number[];
  values: readonly (Stored | null)[];
}

/** Which records of a list. */
export interface RecordSlice {
  sort: readonly SortKey[];
  limit: number;
  offset: number;
}

/** Stores a record. Throws `StorageError`: `conflict`, `missing_reference`, `invalid` (too large), `undefined`. */
export async function insertRecord(sql: Sql, plan: RecordPlan, record: NewRecord): Promise<StoredRecord> {
  const parameters = [record.id, record.now, ...record.values];
  const [row] = await sql.unsafe<Rows>(plan.insert, parameters, prepared).values();
  if (row === undefined) throw new Error('an insert returned no row');
  return plan.record(row);
}

/** One record, or undefined. */
export async function selectRecord(
  sql: Sql,
  plan: RecordPlan,
  id: string,
): Promise<StoredRecord | undefined> {
  const [row] = await sql.unsafe<Rows>(plan.selectOne, [id], prepared).values();
  return row === undefined ? undefined : plan.record(row);
}

/** Changes a record; undefined when there is none. Throws `StorageError` as an insert does. */
export async function updateRecord(
  sql: Sql,
  plan: RecordPlan,
  { id, now, positions, values }: RecordChange,
): Promise<StoredRecord | undefined> {
  const { text, prepare } = plan.update(positions);
  const [row] = await sql.unsafe<Rows>(text, [id, now, ...values], { prepare }).values();
  return row === undefined ? undefined : plan.record(row);
}

/** Deletes a record; false when there is none. Throws `StorageError` `restricted` while a required relation points to it. */
export async function deleteRecord(sql: Sql, plan: RecordPlan, id: string): Promise<boolean> {
  const deleted = await sql.unsafe(plan.remove, [id], prepared);
  return deleted.count === 1;
}

/** A slice of the records in the order of the sort keys, then by id. */
export async function listRecords(
  sql: Sql,
  plan: RecordPlan,
  { sort, limit, offset }: RecordSlice,
): Promise<StoredRecord[]> {
  const { text, prepare } = plan.list(sort);
  const rows = await sql.unsafe<Rows>(text, [limit, offset], { prepare }).values();
  return rows.map((row) => plan.record(row));
}

/** How many records there are. */
export async function countRecords(sql: Sql, plan: RecordPlan): Promise<number> {
  const [row] = await sql.unsafe<Rows>(plan.count, [], { prepare: true }).values();
  return Number(row?.[0] ?? 0);
}
