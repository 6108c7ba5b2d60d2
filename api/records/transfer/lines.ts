// Records as lines of a file: flat objects in NDJSON, or rows of CSV (RFC 4180).
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { JsonText, toJson } from '../../../storage/sql/json-text.ts';

/** The formats of files of records. */
export const transferFormats = ['ndjson', 'csv'] as const;

/** A format of a file of records. */
export type TransferFormat = typeof transferFormats[number];

/** The media types of the formats, as exports have them. */
export const transferTypes: Readonly<Record<TransferFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
};

const formatsByType: Readonly<Record<string, TransferFormat>> = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
};

/** The format that a `Content-Type` names; undefined for any other type. */
export function formatOfType(header: string | undefined): TransferFormat | undefined {
  return formatsByType[header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''];
}

/** The members of a line before the fields. */
export const ownMembers = ['id', 'created_at', 'updated_at'] as const;

/** Writes lines with these members, `id` among them. */
export interface RecordLines {
  /** The first line; empty in NDJSON. */
  head: string;
  line(record: StoredRecord): string;
}

/** The writer of a format. */
export function recordLines(format: TransferFormat, members: readonly string[]): RecordLines {
  return format === 'csv'
    ? { head: row(members), line: (record) => row(members.map((name) => cell(memberOf(record, name)))) }
    : { head: '', line: (record) => `${toJson(flat(record, members))}\n` };
}

function flat(record: StoredRecord, members: readonly string[]): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const name of members) line[name] = memberOf(record, name);
  return line;
}

function memberOf(record: StoredRecord, name: string): unknown {
  switch (name) {
    case 'id':
    case 'created_at':
    case 'updated_at':
      return record[name];
    default:
      return record.fields[name] ?? null;
  }
}

function row(cells: readonly string[]): string {
  return `${cells.join()}\r\n`;
}

const special = /[",\r\n]|^\s|\s$/;

/** A value as a cell. An empty cell without quotes is null, one with quotes the empty text. */
function cell(value: unknown): string {
  if (value === null) return '';
  const text = textOf(value);
  return text === '' || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}
