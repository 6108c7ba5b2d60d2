// Reads related records of a collection, each under its `get` rule.
import type { Residue } from '../../../storage/app/filter/fold.ts';
import { planFor, type RecordPlan, type StoredRecord } from '../../../storage/app/records/plan.ts';
import { RowsTooLarge } from '../../../storage/app/records/row-budget.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { readableCollection } from '../../../storage/workspace/identities.ts';
import { fail } from '../../errors.ts';
import type { RecordScope } from '../collection.ts';

/** A reading of related records. */
export interface RelatedReading<Found> {
  /** The condition under which the caller can see them; undefined for all. */
  rule: Residue | undefined;
  read(sql: Sql, plan: RecordPlan, rule: Residue | undefined): Promise<Found[]>;
}

/** The records of a collection that are read. Throws `400 validation` when they are too large. */
export async function selectRelated<Found>(
  { target: { app }, connection }: RecordScope,
  target: string,
  { rule, read }: RelatedReading<Found>,
): Promise<Found[]> {
  if (rule?.kind === 'constant' && !rule.passes) return [];
  const collection = readableCollection(app, target);
  if (collection === undefined) return [];
  const plan = planFor(app.schema, collection);
  try {
    return await connection.run((sql) => read(sql, plan, rule));
  } catch (error) {
    if (!(error instanceof RowsTooLarge)) throw error;
    failTooLarge();
  }
}

/** Throws `400 validation`: the related records are too many, or too large. */
export function failTooLarge(): never {
  fail(
    'validation',
    'expand: the related records are too large for one response; ask for fewer records at once',
  );
}

/** The ids in a relation or a field for files, which may hold many. */
export function referencedIds({ fields }: StoredRecord, name: string): string[] {
  const value: unknown = fields[name];
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id) => typeof id === 'string');
}
