// A record that is not stored yet: what a response would show, and whether its rule would pass.
import type { StoredValue } from '../fields/kind.ts';
import { type FieldShape, kindOf } from '../fields/kinds.ts';
import type { Sql } from '../../connections/pool.ts';
import { candidateOfParameters } from './candidate-row.ts';
import type { RecordPlan, StoredRecord } from './plan.ts';
import { type ChangedFields, firstValue, type NewRecord } from './records.ts';
import { type WriteRestriction, writeWhereSql } from './restriction.ts';
import { selectRows } from '../../sql/rows.ts';

/** The value of a field as a response shows it. */
export function shownValue(field: FieldShape, stored: StoredValue | null): unknown {
  return stored === null ? null : kindOf(field).shown(stored);
}

/** The record as a response will show it once it is stored. */
export function candidateRecord(plan: RecordPlan, { id, now, values }: NewRecord): StoredRecord {
  const fields = Object.fromEntries(
    plan.fields.map(({ field }, index) => [field.name, shownValue(field, values[index] ?? null)]),
  );
  return { id, collection: plan.collection, fields, created_at: now, updated_at: now };
}

/** A record as a response will show it once a change of it is stored. */
export function changedRecord(
  plan: RecordPlan,
  record: StoredRecord,
  { positions, values, now }: Omit<ChangedFields, 'id'>,
): StoredRecord {
  const fields = { ...record.fields };
  for (const [index, position] of positions.entries()) {
    const planned = plan.fields[position];
    if (planned === undefined) continue;
    fields[planned.field.name] = shownValue(planned.field, values[index] ?? null);
  }
  return { ...record, fields, updated_at: now };
}

/** True when a new record would pass the restriction of its insert. Writes nothing. */
export async function wouldPass(
  sql: Sql,
  plan: RecordPlan,
  { id, now, values }: NewRecord,
  restriction: WriteRestriction,
): Promise<boolean> {
  const where = writeWhereSql(restriction, firstValue + values.length);
  if (where.text === '') return true;
  const text = `select (${where.text}) is true from ${candidateOfParameters(plan.fields)}`;
  const [row] = await selectRows(sql, { text }, [id, now, ...values, ...where.params]);
  return row?.[0] === true;
}
