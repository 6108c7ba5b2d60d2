// The records of a collection: one statement for each operation, access rules included.
import type { StoredValue } from '../fields/kind.ts';
import { type RowBudget, type RowMemory, selectWithin } from './row-budget.ts';
import type { Sql } from '../../connections/pool.ts';
import { type ListPosition, type ListShape, rangesAfter } from './list-order.ts';
import type { RecordPlan, StoredRecord } from './plan.ts';
import {
  bothOf,
  listColumns,
  type RecordSelection,
  replanned,
  selectedWhere,
} from '../search/searched-selection.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import { selectRows } from '../../sql/rows.ts';
import {
  type Restriction,
  type TargetCheck,
  targetCheckSql,
  type Where,
  whereSql,
  type WriteRestriction,
  writeWhereSql,
} from './restriction.ts';

/** A new record: every field's value in the plan's order, null where it is empty. */
export interface NewRecord {
  id: string;
  now: string;
  values: readonly (StoredValue | null)[];
}

/** New values for some fields, named by their positions in the plan. */
export interface ChangedFields {
  id: string;
  now: string;
  positions: readonly number[];
  values: readonly (StoredValue | null)[];
}

/** A slice of the selection. */
export interface RecordSlice extends Omit<ListShape, 'ranked'> {
  limit: number;
  offset: number;
  /** The position that the slice begins after; the start of the list when left out. */
  after?: ListPosition | undefined;
  /** The budget for the values of all rows together, roughly. */
  maxBytes: number;
  memory?: RowMemory | undefined;
}

/**
 * A slice of records, and the snapshot of its statement (`storage/sql/snapshot.ts`) if it was requested and there are
 * rows.
 */
export interface ListedRecords {
  records: StoredRecord[];
  /** True when further records come after them. */
  hasMore: boolean;
  snapshot: string | undefined;
  /** The rank of the last record in a search. */
  lastRank: number | undefined;
}

/** A record, and whether it passes a restriction. */
export interface CheckedRecord {
  record: StoredRecord;
  passes: boolean;
}

/** Number of the first parameter that holds a value, in an insert and in an update. */
export const firstValue = 3;

/**
 * Stores a record; undefined when the restriction is not met. Throws `StorageError`: `conflict`, `missing_reference`,
 * `invalid` (too large), `undefined`.
 */
export async function insertRecord(
  sql: Sql,
  plan: RecordPlan,
  record: NewRecord,
  restriction: WriteRestriction,
): Promise<StoredRecord | undefined> {
  const where = writeWhereSql(restriction, firstValue + record.values.length);
  const parameters = [record.id, record.now, ...record.values, ...where.params];
  const [row] = await selectRows(sql, plan.insert(where.text), parameters);
  return row === undefined ? undefined : plan.record(row);
}

/** One record, or undefined. */
export async function selectRecord(
  sql: Sql,
  plan: RecordPlan,
  id: string,
): Promise<StoredRecord | undefined> {
  const found = await selectChecked(sql, plan, id);
  return found?.record;
}

/** One record and whether it passes, or undefined. */
export async function selectChecked(
  sql: Sql,
  plan: RecordPlan,
  id: string,
  rule?: Restriction,
): Promise<CheckedRecord | undefined> {
  const where = whereSql([rule], 2);
  const [row] = await selectRows(sql, plan.selectOne(where.text), [id, ...where.params]);
  if (row === undefined) return undefined;
  return { record: plan.record(row), passes: where.text === '' || row.at(-1) === true };
}

/**
 * Changes a record; undefined when there is none, when the stored one does not pass the restriction, or when it has all of
 * these values already. PostgreSQL tests the version that it changes, whatever happened meanwhile. Throws `StorageError` as an insert does.
 */
export async function updateFields(
  sql: Sql,
  plan: RecordPlan,
  { id, now, positions, values }: ChangedFields,
  restriction: WriteRestriction,
): Promise<StoredRecord | undefined> {
  const where = writeWhereSql(restriction, firstValue + values.length);
  const [row] = await selectRows(sql, plan.update(positions, where.text), [
    id,
    now,
    ...values,
    ...where.params,
  ]);
  return row === undefined ? undefined : plan.record(row);
}

/**
 * Deletes a record that no relation points to, and returns it as it was; undefined when there is none or it does not
 * pass. Throws `StorageError` `restricted` when a required relation points to it.
 */
export async function deleteRecord(
  sql: Sql,
  plan: RecordPlan,
  id: string,
  rule?: Restriction,
): Promise<StoredRecord | undefined> {
  const where = whereSql([rule], 2);
  const [row] = await selectRows(sql, plan.remove(where.text), [id, ...where.params]);
  return row === undefined ? undefined : plan.record(row);
}

/** A slice of the selected records in the order of the sort keys, then by id. Throws `RowsTooLarge`. */
export async function selectSlice(
  sql: Sql,
  plan: RecordPlan,
  selection: RecordSelection,
  { sort, withSnapshot, limit, offset, after, maxBytes, memory }: RecordSlice,
): Promise<ListedRecords> {
  const { where, rank } = selectedWhere(plan, selection);
  const budget: RowBudget & { rows: number } = { left: maxBytes, memory, rows: limit };
  const rows: unknown[][] = [];
  const ranked = selection.isRanked === true && rank !== undefined
    ? { rank, candidates: where.text }
    : undefined;
  const columnSql = listColumns(plan, rank);
  const place = { columnSql, firstParameter: 1 + where.params.length };
  for (const range of after === undefined ? [nothing] : rangesAfter(sort, after, place)) {
    if (budget.hasMore === true) break;
    const condition = ranked === undefined
      ? bothOf(where, range)
      : { text: range.text, params: [...where.params, ...range.params] };
    const statement = plan.list({ sort, withSnapshot, ranked }, condition, selection.isAdHoc);
    // One more, which is not kept: it tells whether the list goes on.
    const params = [...condition.params, budget.rows + 1, offset];
    rows.push(...await selectWithin(sql, replanned(statement, selection), { params, budget }));
  }
  const snapshot = withSnapshot ? rows[0]?.at(-1) : undefined;
  const lastRank = ranked === undefined ? undefined : Number(rows.at(-1)?.at(-1));
  return {
    records: rows.map((row) => plan.record(row)),
    hasMore: budget.hasMore === true,
    snapshot: typeof snapshot === 'string' ? snapshot : undefined,
    lastRank,
  };
}

const nothing: Where = { text: '', params: [] };

/** A number of records, and the snapshot of the statement that counted them. */
export interface CountedRecords {
  total: number;
  snapshot: string;
}

/** A statement that counts, comparable with all others. */
export interface CountStatement {
  text: string;
  params: Where['params'];
  prepare: boolean;
}

/** The statement that counts the selected records. */
export function countStatement(plan: RecordPlan, selection: RecordSelection): CountStatement {
  const { text, params } = selectedWhere(plan, selection).where;
  const { isAdHoc, isRanked } = selection;
  return { ...replanned(plan.count(text, isAdHoc, isRanked), selection), params };
}

/** Runs a count. */
export async function countRecords(
  sql: Sql,
  { params, ...statement }: CountStatement,
): Promise<CountedRecords> {
  const [row] = await selectRows(sql, statement, params);
  return { total: Number(row?.[0]), snapshot: String(row?.[1]) };
}

/** True when a write may point to the record with this id, or to those of an array. */
export async function canPointTo(
  sql: Sql,
  value: string,
  target: Omit<TargetCheck, 'parameter'>,
): Promise<boolean> {
  const { text, params } = targetCheckSql({ ...target, parameter: 1 }, 2);
  const [row] = await selectRows(sql, { text: `select ${text}` }, [value, ...params]);
  return row?.[0] === true;
}

/** The id of the record that has these values in unique fields; undefined when there is none, as for an empty one of them. */
export async function selectIdByValues(
  sql: Sql,
  plan: RecordPlan,
  wanted: readonly { position: number; value: StoredValue | null }[],
): Promise<string | undefined> {
  const params: StoredValue[] = [];
  const conditions: string[] = [];
  for (const { position, value } of wanted) {
    const field = plan.fields[position]?.field;
    if (field === undefined || value === null) return undefined;
    conditions.push(`${quoteIdentifier(field.name)} = $${params.push(value)}${kindOf(field).cast}`);
  }
  const text = `select "id"::text from ${plan.table} where ${conditions.join(' and ')}`;
  const [row] = await selectRows(sql, { text }, params);
  return row === undefined ? undefined : String(row[0]);
}
