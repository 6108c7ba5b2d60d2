// The lines of a file as records to be created. What is wrong with one line is said of that line.
import { datetime } from '../../../storage/app/fields/datetime.ts';
import { numberingOf } from '../../../storage/app/fields/autonumber.ts';
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import { kindOf, kinds } from '../../../storage/app/fields/kinds.ts';
import { valueOfText } from '../../../storage/app/records/bulk/text-form.ts';
import type { Field } from '../../../storage/definition.ts';
import type { BulkRecord } from '../../../storage/app/records/bulk/insert-many.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import { ApiError, failValidation, type FieldError, fieldsError, reasons } from '../../errors.ts';
import { readNewValues, type RecordInput } from '../input/values.ts';
import { readCsv } from './csv.ts';
import { errorsOfLine, lineName } from './line-errors.ts';
import { ownMembers, type TransferFormat } from './lines.ts';
import { jsonOf, objectOfLine, readLines } from './ndjson.ts';

/** A line of a file: a record, or what is wrong with it. */
export interface FileLine {
  /** The number of the line, from 1. */
  line: number;
  /** Its length, about. */
  bytes: number;
  row: BulkRecord | { errors: FieldError[] };
}

/** A file of records as it arrives. */
export interface RecordFile {
  format: TransferFormat;
  bytes: AsyncIterable<Uint8Array>;
  /** The bytes that one line may have. */
  maxLineBytes: number;
}

/** What lines leave out. */
interface Defaults {
  newId: () => string;
  now: Date;
}

/** Reads the lines of a file. Throws `400 validation` for a file that cannot be read on. */
export async function* readRows(
  plan: RecordPlan,
  { format, bytes, maxLineBytes }: RecordFile,
  defaults: Defaults,
): AsyncGenerator<FileLine> {
  const rowOf = (line: number, read: () => RecordInput): FileLine['row'] => {
    try {
      return readRecord(plan, read(), defaults);
    } catch (error) {
      if (error instanceof ApiError) return { errors: errorsOfLine(line, error) };
      throw error;
    }
  };
  if (format === 'ndjson') {
    for await (const { line, bytes: json } of readLines(bytes, maxLineBytes)) {
      yield { line, bytes: json.length, row: rowOf(line, () => objectOfLine(json)) };
    }
    return;
  }
  let head: Column[] | undefined;
  for await (const { line, cells } of readCsv(bytes, maxLineBytes)) {
    if (head === undefined) head = readHead(plan, line, cells);
    else {
      const columns = head;
      const length = cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
      yield { line, bytes: length, row: rowOf(line, () => inputOf(columns, cells)) };
    }
  }
}

/** A column of a CSV file. */
interface Column {
  name: string;
  /** Undefined for the id and the times. */
  field: Field | undefined;
}

/** Reads the first line, which names the columns. Throws `400 validation` for names that are no fields, or come twice. */
function readHead(plan: RecordPlan, line: number, cells: readonly (string | null)[]): Column[] {
  const known = new Map<string, Field | undefined>(ownMembers.map((name) => [name, undefined]));
  for (const { field } of plan.fields) known.set(field.name, field);
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const columns = cells.map((cell): Column => {
    const name = cell ?? '';
    const field = lineName(line, name.slice(0, 100) || '""');
    if (!known.has(name)) errors.push({ field, reason: reasons.unknown });
    else if (seen.has(name)) errors.push({ field, reason: 'comes twice' });
    seen.add(name);
    return { name, field: known.get(name) };
  });
  if (errors.length > 0) failValidation(errors.slice(0, 100));
  return columns;
}

/** The input of a row. Throws `400 validation` for a row of another length than the first, and for what should be JSON. */
function inputOf(columns: readonly Column[], cells: readonly (string | null)[]): RecordInput {
  if (cells.length !== columns.length) {
    throw new ApiError('validation', `has ${cells.length} values, and the first line has ${columns.length}`);
  }
  const input: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [index, { name, field }] of columns.entries()) {
    const cell = cells[index] ?? null;
    try {
      if (cell === null) {
        // An id, times and numbers that are left out are those of a create.
        if (field !== undefined && numberingOf(field) === undefined) input[name] = null;
      } else input[name] = field === undefined ? cell : valueOf(field, cell);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      errors.push({ field: name, reason: error.message });
    }
  }
  if (errors.length > 0) failValidation(errors);
  return input;
}

function valueOf(field: Field, cell: string): unknown {
  const isJson = kinds[field.kind].comparable === 'json' || field.many === true && cell.startsWith('[');
  return isJson ? jsonOf(Buffer.from(cell)) : valueOfText(field, cell);
}

const readTime = datetime.reader({ name: '', kind: 'datetime' });

/** The record of a line. Throws `400 validation`. */
function readRecord(plan: RecordPlan, line: RecordInput, { newId, now }: Defaults): BulkRecord {
  const { created_at, updated_at, ...rest } = line;
  const { id: given, ...fields } = rest;
  const input = given === null ? fields : rest;
  const errors: FieldError[] = [];
  const at = now.toISOString();
  const createdAt = readInstant('created_at', created_at ?? at, errors);
  const updatedAt = readInstant('updated_at', updated_at ?? (createdAt || at), errors);
  const numbers = readNumbers(plan, input, errors);
  try {
    const others = numbers.size === 0 ? input : without(plan, input, numbers);
    const { id = newId(), values } = readNewValues(plan, others);
    const all = numbers.size === 0 ? values : values.map((value, at) => numbers.get(at) ?? value);
    if (errors.length === 0) return { id, createdAt, updatedAt, values: all };
  } catch (error) {
    if (!(error instanceof ApiError) || error.errors.length === 0) throw error;
    errors.push(...error.errors);
  }
  throw fieldsError('validation', errors);
}

function readInstant(field: string, value: unknown, errors: FieldError[]): string {
  const reading = readTime(value);
  if ('value' in reading) return String(reading.value);
  errors.push({ field, reason: reading.reason });
  return '';
}

/** By their positions, the numbers that a line sets where other creates leave them to the server. */
function readNumbers(plan: RecordPlan, input: RecordInput, errors: FieldError[]): Map<number, StoredValue> {
  const numbers = new Map<number, StoredValue>();
  for (const [position, { field }] of plan.fields.entries()) {
    const value = numberingOf(field) === undefined ? undefined : input[field.name];
    if (value === undefined || value === null) continue;
    const reading = kindOf(field).reader({ ...field, autonumber: false })(value);
    if ('reason' in reading) errors.push({ field: field.name, reason: reading.reason });
    numbers.set(position, 'value' in reading ? reading.value : '');
  }
  return numbers;
}

/** The members of a line but for its numbers. */
function without(
  plan: RecordPlan,
  input: RecordInput,
  numbers: ReadonlyMap<number, StoredValue>,
): RecordInput {
  const names = new Set([...numbers.keys()].map((position) => plan.fields[position]?.field.name));
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)));
}
