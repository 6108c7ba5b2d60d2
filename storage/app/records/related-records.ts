// Related records: those that records point to, and those that point to records.
import { type RowBudget, selectWithin } from './row-budget.ts';
import type { Residue } from '../filter/fold.ts';
import type { Sql } from '../../connections/pool.ts';
import { StorageError } from '../../errors.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import type { Referrer } from './referrers.ts';
import type { RecordPlan, StoredRecord } from './plan.ts';
import { type Restriction, whereSql } from './restriction.ts';
import { selectRows } from '../../sql/rows.ts';
import { setUpdatedAt } from './updated-at.ts';

/** A record that is locked until the transaction ends: nobody else can change it, or begin to point to it. */
export interface LockedRecord {
  id: string;
  /** Size of its values as text, in bytes. */
  size: number;
}

const lockedColumns = '"id"::text, octet_length((r.*)::text)';

/** Options of a selection by ids. */
export interface RelatedSelection {
  rule?: Residue | undefined;
  /** The budget of the rows; unlimited by default. */
  budget?: RowBudget | undefined;
}

/** The records with these ids that pass, in no order. Throws `RowsTooLarge`. */
export async function selectRecords(
  sql: Sql,
  plan: RecordPlan,
  ids: readonly string[],
  { rule, budget = { left: Infinity } }: RelatedSelection = {},
): Promise<StoredRecord[]> {
  const where = whereSql([rule && { residue: rule }], 2);
  const condition = where.text === '' ? '' : ` and ${where.text}`;
  const text = `select ${plan.columns} from ${plan.table} as r where r."id" = any($1::uuid[])${condition}`;
  const rows = await selectWithin(sql, { text, prepare: false }, {
    params: [[...ids], ...where.params],
    budget,
  });
  return rows.map((row) => plan.record(row));
}

/** Which records are selected that point to others. */
export interface ReferrerSelection extends RelatedSelection {
  /** The relation that points. */
  by: string;
  /** True when it holds many. */
  byMany: boolean;
  /** The ids that it may point to. */
  ids: readonly string[];
  /** Records that point to the same one, at most: the oldest are selected. */
  each: number;
  /** Records in all, at most. */
  all: number;
}

/** A record, and the id that it points to. */
export interface PointingRecord {
  record: StoredRecord;
  holder: string;
}

/** The records that point to one of some ids and pass, the oldest first. Throws `RowsTooLarge`. */
export async function selectReferrers(
  sql: Sql,
  plan: RecordPlan,
  { by, byMany, ids, each, all, rule, budget = { left: Infinity } }: ReferrerSelection,
): Promise<PointingRecord[]> {
  const where = whereSql([rule && { residue: rule }], 4);
  const condition = where.text === '' ? '' : ` and ${where.text}`;
  // For each id, so that the index of the relation finds its records, and no more of them are read than that.
  const points = `r.${quoteIdentifier(by)} ${byMany ? '@> array[h."holder"]' : '= h."holder"'}`;
  const text = `select ${plan.columns}, h."holder"::text from unnest($1::uuid[]) as h("holder") ` +
    `cross join lateral (select * from ${plan.table} as r where ${points}${condition} ` +
    `order by r."created_at", r."id" limit $2::bigint) as r limit $3::bigint`;
  const rows = await selectWithin(sql, { text, prepare: false }, {
    params: [[...ids], each, all, ...where.params],
    budget,
  });
  return rows.map((row) => ({ record: plan.record(row), holder: String(row.at(-1)) }));
}

/** Locks a record that is about to be deleted; undefined when there is none or it does not pass. */
export async function lockRecord(
  sql: Sql,
  plan: RecordPlan,
  id: string,
  rule?: Restriction,
): Promise<LockedRecord | undefined> {
  const where = whereSql([rule], 2);
  const condition = where.text === '' ? '' : ` and ${where.text}`;
  const text =
    `select ${lockedColumns} from ${plan.table} as r where r."id" = $1::uuid${condition} for update of r`;
  const [row] = await selectRows(sql, { text }, [id, ...where.params]);
  return row === undefined ? undefined : lockedRecord(row);
}

/** A field that points to records. */
export type ReferringField = Pick<Referrer, 'field' | 'many'>;

/** Locks records that point to one of `ids` through a field, at most `limit` of them. */
export async function lockReferrers(
  sql: Sql,
  plan: RecordPlan,
  { field, many, ids, limit }: ReferringField & { ids: readonly string[]; limit: number },
): Promise<LockedRecord[]> {
  const column = `r.${quoteIdentifier(field)}`;
  const text = `select ${lockedColumns} from ${plan.table} as r ` +
    `where ${column} ${many === undefined ? '= any($1::uuid[])' : '&& $1::uuid[]'} ` +
    'order by r."id" limit $2::bigint for update';
  const rows = await selectRows(sql, { text }, [[...ids], limit]);
  return rows.map(lockedRecord);
}

/** Records whose relation points to records that are about to be deleted. */
export interface EmptiedRelation extends ReferringField {
  ids: readonly string[];
  targets: readonly string[];
  now: string;
}

/**
 * Empties a relation of these records, and returns them as they are then. One that holds many loses only the targets. Throws
 * `StorageError` `restricted` when a required one would lose its last.
 */
export async function emptyRelation(
  sql: Sql,
  plan: RecordPlan,
  { field, many, ids, targets, now }: EmptiedRelation,
): Promise<StoredRecord[]> {
  const column = quoteIdentifier(field);
  const rest = `array(select i."item" from unnest(r.${column}) with ordinality as i("item", "place") ` +
    'where i."item" <> all($3::uuid[]) order by i."place")';
  const text = `update ${plan.table} as r set ${column} = ${many === undefined ? 'null' : rest}, ` +
    `${setUpdatedAt} where "id" = any($1::uuid[]) returning ${plan.columns}`;
  const rows = await selectRows(sql, { text }, [[...ids], now, ...many === undefined ? [] : [[...targets]]]);
  const records = rows.map((row) => plan.record(row));
  if (many !== undefined) requireItems(records, field, many.least);
  return records;
}

function requireItems(records: readonly StoredRecord[], field: string, least: number): void {
  for (const { fields } of records) {
    const items = fields[field];
    if (Array.isArray(items) && items.length >= least) continue;
    throw new StorageError('restricted', `${field} would have fewer than ${least} items`);
  }
}

/**
 * Deletes records of several collections in one statement. PostgreSQL checks and follows references when all of them
 * are deleted, so they may point to each other in a circle. Throws `StorageError` `restricted` for a required relation
 * that is left.
 */
export async function deleteTogether(
  sql: Sql,
  parts: readonly { plan: RecordPlan; ids: readonly string[] }[],
): Promise<void> {
  const deletions = parts.map(({ plan }, index) =>
    `gone_${index} as (delete from ${plan.table} where "id" = any($${index + 1}::uuid[]))`
  );
  await sql.unsafe(`with ${deletions.join(', ')} select`, parts.map(({ ids }) => [...ids]));
}

function lockedRecord([id, size]: readonly unknown[]): LockedRecord {
  return { id: String(id), size: Number(size) };
}
