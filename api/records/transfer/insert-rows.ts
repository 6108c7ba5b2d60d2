// Storing the rows of a batch: those that PostgreSQL refuses are found out, and the others stored.
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { describeFiles } from '../../../storage/app/files.ts';
import type { Field } from '../../../storage/definition.ts';
import { parseArray } from '../../../storage/sql/text-array.ts';
import { type BulkRecord, missingIds } from '../../../storage/app/records/bulk/insert-many.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { StorageError } from '../../../storage/errors.ts';
import { ApiError, type FieldError, toApiError } from '../../errors.ts';
import { fileErrors, limitedFiles } from '../relations/file-limits.ts';
import { explainWriteError, missingTarget } from '../input/write-errors.ts';
import type { BulkStatements } from './bulk-write.ts';
import { errorsOfLine, lineName } from './line-errors.ts';

/** A row of a batch. */
export interface BatchRow {
  record: BulkRecord;
  line: number;
  /** Its length in the file, about. */
  bytes: number;
}

/** What became of the rows of a batch. */
export interface StoredBatch {
  created: number;
  refused: number;
  errors: FieldError[];
  waiting: WaitingRow[];
}

/** A row that points to a record of its own collection, which may come later in the file. */
export interface WaitingRow {
  row: BatchRow;
  /** Its errors, unless that record comes. */
  errors: FieldError[];
}

/** Where the rows are stored, and how many errors are of interest. */
export interface BatchScope {
  sql: Sql;
  schema: string;
  statements: BulkStatements;
  plan: RecordPlan;
  maxErrors: number;
}

/** Stores rows. Throws what is not the fault of one of them. */
export async function insertRows(scope: BatchScope, rows: readonly BatchRow[]): Promise<StoredBatch> {
  const result: StoredBatch = { created: 0, refused: 0, errors: [], waiting: [] };
  const fit = await withFitFiles(result, scope, rows);
  if (fit.length > 0) await insertInto(result, scope, fit);
  return result;
}

/** The rows whose files are such as their fields take. The others are refused. */
async function withFitFiles(
  result: StoredBatch,
  { sql, schema, plan }: BatchScope,
  rows: readonly BatchRow[],
): Promise<readonly BatchRow[]> {
  const positions = plan.allPositions;
  const held = rows.map(({ record: { values } }) => limitedFiles(plan, { positions, values }));
  const ids = new Set(held.flat().map(({ id }) => id));
  if (ids.size === 0) return rows;
  const files = await describeFiles(sql, schema, [...ids]);
  return rows.filter(({ line }, index) => {
    const errors = fileErrors(held[index] ?? [], files);
    if (errors.length === 0) return true;
    refuseWith(result, errors.map((error) => ({ ...error, field: lineName(line, error.field) })));
    return false;
  });
}

async function insertInto(
  result: StoredBatch,
  scope: BatchScope,
  rows: readonly BatchRow[],
): Promise<void> {
  const { sql, statements, plan } = scope;
  try {
    const stored = await statements.insertMany(sql, plan, rows.map(({ record }) => record));
    const seen = new Set<string>();
    for (const row of rows) {
      const { id } = row.record;
      if (stored.has(id) && !seen.has(id)) result.created++;
      else await explainTaken(result, scope, row);
      seen.add(id);
    }
  } catch (error) {
    const [first] = rows;
    if (!isOfRow(error) || first === undefined) throw error;
    if (rows.length === 1) return refuseRow(result, scope, { row: first, error });
    const left = error.failure === 'missing_reference' ? await withTargets(result, scope, rows) : rows;
    if (left.length < rows.length) {
      return left.length === 0 ? undefined : await insertInto(result, scope, left);
    }
    const half = Math.ceil(rows.length / 2);
    await insertInto(result, scope, rows.slice(0, half));
    await insertInto(result, scope, rows.slice(half));
  }
}

/** The rows all of whose targets are there, or are among them. The others are refused, or have to wait. */
async function withTargets(
  result: StoredBatch,
  { sql, schema, plan }: BatchScope,
  rows: readonly BatchRow[],
): Promise<BatchRow[]> {
  const own = new Set(rows.map(({ record }) => record.id));
  const missing = new Map<BatchRow, FieldError[]>();
  const alone = new Set<BatchRow>();
  for (const [position, { field }] of plan.fields.entries()) {
    const target = pointsTo(field);
    if (target === undefined) continue;
    const isOwn = target === plan.collection;
    const idsOf = ({ record }: BatchRow) => idsIn(field, record.values[position] ?? null);
    const ids = [...new Set(rows.flatMap(idsOf))].filter((id) => !(isOwn && own.has(id)));
    const unknown = await missingIds(sql, { schema, target, ids });
    for (const row of rows) {
      if (!idsOf(row).some((id) => unknown.has(id))) continue;
      const error = missingTarget(plan, field.name);
      missing.set(row, [...missing.get(row) ?? [], { ...error, field: lineName(row.line, error.field) }]);
      if (!isOwn) alone.add(row);
    }
  }
  for (const [row, errors] of missing) {
    if (alone.has(row)) refuseWith(result, errors);
    else result.waiting.push({ row, errors });
  }
  return rows.filter((row) => !missing.has(row));
}

/** The ids that a value to store has. */
function idsIn({ many }: Field, value: StoredValue | null): string[] {
  if (value === null) return [];
  return many === true ? parseArray(String(value)) : [String(value)];
}

/** Finds out which value of a row is taken, by storing it. */
async function explainTaken(result: StoredBatch, scope: BatchScope, row: BatchRow): Promise<void> {
  if (result.errors.length >= scope.maxErrors) return void result.refused++;
  try {
    await scope.statements.insertOne(scope.sql, scope.plan, row.record);
    // The other record has been deleted meanwhile.
    result.created++;
  } catch (error) {
    if (!isOfRow(error)) throw error;
    refuseRow(result, scope, { row, error });
  }
}

function refuseRow(
  result: StoredBatch,
  { plan }: BatchScope,
  { row, error }: { row: BatchRow; error: StorageError },
): void {
  const errors = errorsOfLine(row.line, explain(error, plan));
  if (mayComeLater(plan, error)) result.waiting.push({ row, errors });
  else refuseWith(result, errors);
}

function refuseWith(result: StoredBatch, errors: readonly FieldError[]): void {
  result.refused++;
  result.errors.push(...errors);
}

function explain(error: StorageError, plan: RecordPlan): ApiError {
  try {
    const explained = explainWriteError(error, plan);
    return explained instanceof ApiError ? explained : toApiError(error);
  } catch (thrown) {
    return toApiError(thrown);
  }
}

/** True when a row points to a record of its own collection that is not there yet. */
function mayComeLater(plan: RecordPlan, { failure, constraint }: StorageError): boolean {
  const name = failure === 'missing_reference' ? plan.constraintFields(constraint)[0] : undefined;
  const field = plan.fields.find(({ field }) => field.name === name)?.field;
  return field !== undefined && pointsTo(field) === plan.collection;
}

function isOfRow(error: unknown): error is StorageError {
  return error instanceof StorageError &&
    (error.failure === 'conflict' || error.failure === 'missing_reference' || error.failure === 'invalid');
}
