// Importing records: a file is read, checked and stored batch by batch as it arrives, so that its size does not matter.
import { planFor, type RecordPlan } from '../../../storage/app/records/plan.ts';
import type { BodyStream } from '../../contract/route.ts';
import type { Deps } from '../../deps.ts';
import { ApiError, fail, type FieldError, fieldsError } from '../../errors.ts';
import { type RecordTarget, refuseBuiltIn } from '../collection.ts';
import { type BulkDeps, type BulkStep, commitBulk } from './bulk-write.ts';
import { type BatchRow, insertRows, type StoredBatch, type WaitingRow } from './insert-rows.ts';
import type { TransferFormat } from './lines.ts';
import { lineName } from './line-errors.ts';
import { type FileLine, readRows } from './read-rows.ts';

/** A file of records that is to be imported. */
export interface RecordImport {
  format: TransferFormat;
  bytes: BodyStream['bytes'];
  /** What is done about a wrong line: nothing is imported, or all other lines are. */
  onError: 'abort' | 'skip';
  /** True to store nothing. */
  isDryRun: boolean;
  /** Throws when the caller may no longer write. Called for each batch. */
  requireCaller: () => void;
  now: Date;
}

/** What became of an import. */
export interface ImportReport {
  created: number;
  skipped: number;
  /** The errors of the first lines that were skipped. */
  errors: FieldError[];
}

type ImportDeps =
  & BulkDeps
  & Pick<Deps, 'config' | 'imports' | 'newId' | 'policies' | 'traffic' | 'uploadPace'>;

/** An import that is under way. */
interface Running extends RecordImport {
  deps: ImportDeps;
  plan: RecordPlan;
  schema: string;
  workspace: string;
  /** Throws when it has taken too long. */
  requireTime: () => void;
  report: ImportReport;
}

/** The limits of a batch. */
const batchRows = 500;
const batchBytes = 262_144;
/** The rows that wait for others of the file take so many bytes. */
const maxWaitingBytes = 8 * 1_048_576;
const maxErrors = 100;
/** A client that sends nothing for half a minute is disconnected. */
const idleMs = 60_000;
const statementMs = 25_000;

/**
 * Imports records: all of them, or all whose lines are right. No hooks run, no events are published, and subscribers have to read
 * the collection again. Throws `400 validation` with what is wrong with the file, `409 conflict` if all of that is values that are
 * taken, `413 payload_too_large` after the time that policy `import.max_sec` allows, and `429` beside another import.
 */
export async function importRecords(
  deps: ImportDeps,
  target: RecordTarget,
  request: RecordImport,
): Promise<ImportReport> {
  const { app, collection } = target;
  refuseBuiltIn(target);
  if (collection.kind !== 'base') {
    fail(
      'validation',
      `"${collection.id}" is of kind ${collection.kind}; only base collections take imports`,
    );
  }
  const place = { workspace: app.workspace.id, app: app.id };
  const { max: seconds } = await deps.policies.range('import.max_sec', place);
  const isAbort = request.onError === 'abort';
  const started = performance.now();
  const running: Running = {
    ...request,
    deps,
    plan: planFor(app.schema, collection),
    schema: app.schema,
    workspace: app.workspace.id,
    requireTime: () => {
      if (performance.now() - started > seconds * 1_000) {
        fail(
          'payload_too_large',
          `the import takes longer than the ${seconds} s that policy import.max_sec allows`,
        );
      }
    },
    report: { created: 0, skipped: 0, errors: [] },
  };
  const write = {
    isAtomic: isAbort || request.isDryRun,
    limits: { transactionMs: seconds * 1_000 + idleMs, idleMs, statementMs },
    isKept: ({ errors }: ImportReport) => !request.isDryRun && !(isAbort && errors.length > 0),
  };
  const report = await deps.imports.run(
    app.workspace.id,
    () => commitBulk(deps, target, write, (step) => run(running, step)),
  ).catch((error: unknown) => {
    throw write.isAtomic ? error : withCount(error, running.report);
  });
  if (isAbort && report.errors.length > 0) throw refusal(report.errors);
  return report;
}

function refusal(errors: readonly FieldError[]): ApiError {
  const isTaken = errors.every(({ code }) => code === 'taken');
  return fieldsError(isTaken ? 'conflict' : 'validation', errors);
}

/** The error that ended an import after some of its records had been stored. */
function withCount(error: unknown, { created }: ImportReport): unknown {
  if (!(error instanceof ApiError) || created === 0) return error;
  const { code, message, headers, status, errors } = error;
  return new ApiError(code, `${message}; ${created} records have been created before`, headers, {
    status,
    errors,
  });
}

async function run(running: Running, step: BulkStep): Promise<ImportReport> {
  const { report, onError } = running;
  let batch: BatchRow[] = [];
  let bytes = 0;
  let waiting: WaitingRow[] = [];
  const flush = async () => {
    const rows = batch;
    batch = [];
    bytes = 0;
    const stored = await store(running, step, rows);
    waiting = withWaiting(report, waiting, stored.waiting);
  };
  for await (const line of linesOf(running)) {
    if ('errors' in line.row) refuse(report, line.row.errors);
    else {
      batch.push({ record: line.row, line: line.line, bytes: line.bytes });
      bytes += line.bytes;
    }
    if (batch.length >= batchRows || bytes >= batchBytes) await flush();
    if (onError === 'abort' && report.errors.length >= maxErrors) return report;
  }
  await flush();
  await storeWaiting(running, step, waiting);
  return report;
}

function linesOf({ plan, format, bytes, deps, workspace, now }: Running): AsyncIterable<FileLine> {
  const { config: { http: { max_body_bytes: maxLineBytes } }, newId } = deps;
  const file = { format, bytes: paced(deps, workspace, bytes), maxLineBytes };
  return readRows(plan, file, { newId, now });
}

/** Stores the rows that waited for others, as long as more of them come. */
async function storeWaiting(running: Running, step: BulkStep, waiting: readonly WaitingRow[]): Promise<void> {
  let left = waiting;
  while (left.length > 0) {
    const stored = await store(running, step, left.map(({ row }) => row));
    if (stored.waiting.length === left.length) break;
    left = stored.waiting;
  }
  for (const { errors } of left) refuse(running.report, errors);
}

async function store(
  { deps, schema, plan, report, requireCaller, requireTime }: Running,
  step: BulkStep,
  rows: readonly BatchRow[],
): Promise<StoredBatch> {
  await deps.traffic.lull();
  requireCaller();
  requireTime();
  const addition = { records: rows.length, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
  const stored = await step(
    addition,
    (sql, statements) =>
      insertRows({ sql, schema, statements, plan, maxErrors: maxErrors - report.errors.length }, rows),
  );
  report.created += stored.created;
  report.skipped += stored.refused;
  report.errors.push(...stored.errors.slice(0, maxErrors - report.errors.length));
  return stored;
}

/** Adds rows to those that wait, unless they are too many. */
function withWaiting(
  report: ImportReport,
  waiting: readonly WaitingRow[],
  added: readonly WaitingRow[],
): WaitingRow[] {
  const kept = [...waiting];
  let bytes = waiting.reduce((sum, { row }) => sum + row.bytes, 0);
  for (const each of added) {
    bytes += each.row.bytes;
    if (bytes <= maxWaitingBytes) kept.push(each);
    else {
      const reason = 'points to a record that comes later in the file; put that one first';
      refuse(report, [{ field: lineName(each.row.line), reason }]);
    }
  }
  return kept;
}

function refuse(report: ImportReport, errors: readonly FieldError[]): void {
  report.skipped++;
  report.errors.push(...errors.slice(0, maxErrors - report.errors.length));
}

async function* paced(
  { uploadPace }: Pick<Deps, 'uploadPace'>,
  workspace: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  for await (const chunk of bytes) {
    await uploadPace.take(workspace, chunk.byteLength);
    yield chunk;
  }
}
