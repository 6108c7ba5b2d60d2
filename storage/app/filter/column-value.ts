// The value of a column in a record in memory, as operators compare it.
import { JsonText } from '../../sql/json-text.ts';
import type { ColumnTerm, ValueTerm } from './condition.ts';

/** A record as responses show it (`StoredRecord` is one). */
export interface FilterRecord {
  id: string;
  fields: Readonly<Record<string, unknown>>;
  created_at: string;
  updated_at: string;
}

/** A column's value. `null`: there is none. `composite`: an array or object, which is unlike everything. */
export type ColumnValue = ValueTerm | null | 'composite';

/** Reads the items of a column that holds many, of the record that holds it. */
export function itemsReader(term: ColumnTerm): (record: FilterRecord) => readonly ColumnValue[] {
  const read = valueReader(term);
  return (record) => {
    const items = readMember(record, term.column);
    return Array.isArray(items) ? items.map(read) : [];
  };
}

/** Reads a column of the record that holds it. */
export function columnReader(term: ColumnTerm): (record: FilterRecord) => ColumnValue {
  const read = valueReader(term);
  return (record) => read(readMember(record, term.column));
}

function readMember(record: FilterRecord, column: string): unknown {
  if (column === 'id' || column === 'created_at' || column === 'updated_at') return record[column];
  return Object.hasOwn(record.fields, column) ? record.fields[column] : undefined;
}

/** Reads a column's value. A value of another type than the column's counts as none. */
function valueReader({ type, path }: ColumnTerm): (value: unknown) => ColumnValue {
  switch (type) {
    case 'text':
      return (value) => typeof value === 'string' ? { kind: 'value', type, value } : null;
    case 'uuid':
      return (value) =>
        typeof value === 'string' ? { kind: 'value', type, value: value.toLowerCase() } : null;
    case 'number':
      return (value) => typeof value === 'number' ? { kind: 'value', type, value } : null;
    case 'boolean':
      return (value) => typeof value === 'boolean' ? { kind: 'value', type, value } : null;
    case 'datetime':
      return (value) => {
        const instant = typeof value === 'string' ? Date.parse(value) : NaN;
        return Number.isNaN(instant) ? null : { kind: 'value', type, value: instant };
      };
    case 'json':
      return (value) => jsonValue(follow(value instanceof JsonText ? value.value : value, path));
  }
}

function jsonValue(value: unknown): ColumnValue {
  switch (typeof value) {
    case 'string':
      return { kind: 'value', type: 'text', value };
    case 'number':
      return { kind: 'value', type: 'number', value };
    case 'boolean':
      return { kind: 'value', type: 'boolean', value };
    default:
      if (value === undefined || value === null) return null;
      return JSON.isRawJSON(value) ? { kind: 'value', type: 'number', value } : 'composite';
  }
}

const position = /^\d+$/;

/** As `jsonb_extract_path`: a number leads into an array, any text into an object, nothing out of anything else. */
function follow(value: unknown, path: readonly string[]): unknown {
  let place = value;
  for (const step of path) {
    if (typeof place !== 'object' || place === null || JSON.isRawJSON(place)) return undefined;
    // The members of an array are its items. Its length is none.
    const member = !Array.isArray(place) ? step : position.test(step) ? Number(step) : undefined;
    place = member === undefined ? undefined : Object.getOwnPropertyDescriptor(place, member)?.value;
  }
  return place;
}
