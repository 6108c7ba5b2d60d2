// Row versions of records: a change that applies only if the record is still the one that was read.
import type { Sql } from '../../connections/pool.ts';
import { differsSql } from './difference.ts';
import type { RecordPlan, StoredRecord } from './plan.ts';
import { type ChangedFields, type CheckedRecord, firstValue } from './records.ts';
import {
  recordAlias,
  type Restriction,
  whereSql,
  type WriteRestriction,
  writeWhereSql,
} from './restriction.ts';
import { selectRows } from '../../sql/rows.ts';

/** A record of one version, and whether it passes. */
export interface CheckedVersion extends CheckedRecord {
  /** Differs after each change. */
  version: string;
}

/** Transaction and place of a row's version: https://www.postgresql.org/docs/current/ddl-system-columns.html */
const versionColumn = `(${recordAlias}.xmin::text || ' ' || ${recordAlias}.ctid::text)`;

/** One record, whether it passes, and its version; undefined when there is none. */
export async function selectVersion(
  sql: Sql,
  plan: RecordPlan,
  id: string,
  rule?: Restriction,
): Promise<CheckedVersion | undefined> {
  const where = whereSql([rule], 2);
  const passes = where.text === '' ? 'true' : `(${where.text}) is true`;
  const text = `select ${plan.columns}, ${versionColumn}, ${passes} from ${plan.table} as ${recordAlias} ` +
    `where ${recordAlias}."id" = $1::uuid`;
  const [row] = await selectRows(sql, { text }, [id, ...where.params]);
  if (row === undefined) return undefined;
  return { record: plan.record(row), passes: row.at(-1) === true, version: String(row.at(-2)) };
}

/** A record of one version, and how a change that was not made finds it. */
export interface UnchangedRecord extends CheckedVersion {
  /** True when the change would give it another value. */
  differs: boolean;
}

/** One record that a change has left as it is; undefined when there is none. */
export async function selectUnchanged(
  sql: Sql,
  plan: RecordPlan,
  { id, positions, values }: Omit<ChangedFields, 'now'>,
  rule?: Restriction,
): Promise<UnchangedRecord | undefined> {
  const where = whereSql([rule], 2 + values.length);
  const passes = where.text === '' ? 'true' : `(${where.text}) is true`;
  const text =
    `select ${plan.columns}, ${versionColumn}, ${passes}, ${differsSql(plan.fields, positions, 2)} ` +
    `from ${plan.table} as ${recordAlias} where ${recordAlias}."id" = $1::uuid`;
  const [row] = await selectRows(sql, { text }, [id, ...values, ...where.params]);
  if (row === undefined) return undefined;
  const [version, isPassing, differs] = row.slice(-3);
  return {
    record: plan.record(row),
    version: String(version),
    passes: isPassing === true,
    differs: differs === true,
  };
}

/** Changes a record of this version; undefined where `updateFields` says so too, and when the version is another. */
export async function updateVersion(
  sql: Sql,
  plan: RecordPlan,
  { id, now, positions, values, version }: ChangedFields & { version: string },
  restriction: WriteRestriction,
): Promise<StoredRecord | undefined> {
  const where = writeWhereSql(restriction, firstValue + values.length);
  const same = `${versionColumn} = $${firstValue + values.length + where.params.length}::text`;
  const statement = plan.update(positions, where.text === '' ? same : `${where.text} and ${same}`);
  const parameters = [id, now, ...values, ...where.params, version];
  const [row] = await selectRows(sql, statement, parameters);
  return row === undefined ? undefined : plan.record(row);
}
