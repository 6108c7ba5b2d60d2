// Cursors of lists: where a page ended, sealed so that nobody reads the values in them or makes one.
import type { ListPosition, SortKey } from '../../../storage/app/records/list-order.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { Secrets } from '../../../storage/secrets.ts';
import { JsonText } from '../../../storage/sql/json-text.ts';
import { failValidation } from '../../errors.ts';
import type { RecordScope } from '../collection.ts';

/** A list whose pages a cursor leads through. */
export interface CursorList {
  scope: Pick<RecordScope, 'target' | 'plan'>;
  sort: readonly SortKey[];
  filter: string | undefined;
}

/** The position behind a page, and the number of that page. */
export interface ListPlace {
  position: ListPosition;
  page: number;
}

/** The longest values that a cursor holds, in bytes of their JSON: it must fit a URL, beside a filter. */
const maxValueBytes = 4_096;

/** The cursor that continues a list after a record, the last one of a page. */
export function writeCursor(secrets: Secrets, list: CursorList, last: StoredRecord, page: number): string {
  const values = list.sort.map(({ column }) => sortValue(last, column));
  const place = JSON.stringify([page, last.id, ...values]);
  const held = Buffer.byteLength(place) > maxValueBytes ? JSON.stringify([page]) : place;
  return secrets.seal('list-cursor', ownerOf(list), Buffer.from(held)).toString('base64url');
}

/** Reads a cursor. Throws `400 validation` for anything but a cursor of this list. */
export function readCursor(secrets: Secrets, list: CursorList, cursor: string): ListPlace {
  const sealed = Buffer.from(cursor, 'base64url');
  const place = secrets.tryOpen('list-cursor', ownerOf(list), sealed);
  if (place === undefined) {
    refuse('is not a next_cursor of a list of this collection with this sort and filter');
  }
  // `writeCursor` has made it, or it would not open.
  const [page, id, ...values] = JSON.parse(place.toString()) as Place;
  if (id === undefined) {
    refuse(`the page before ended with values of the sort fields of over ${maxValueBytes} bytes; use page`);
  }
  return { position: { id, values }, page };
}

type Place = [page: number, id?: string, ...values: ListPosition['values']];

/** The value of a record as it is sent to PostgreSQL. */
function sortValue(record: StoredRecord, column: string): string | number | null {
  if (column === 'id' || column === 'created_at' || column === 'updated_at') return record[column];
  const value = record.fields[column] ?? null;
  if (value === null || typeof value === 'number') return value;
  return value instanceof JsonText ? value.text : String(value);
}

/** The values of another list, or of a field that has got another kind, may not be compared with those of this one. */
function ownerOf({ scope: { target: { app, collection }, plan }, sort, filter }: CursorList): string {
  const keys = sort.map(({ column, descending }) => [column, descending, plan.rows.kindOf(column)]);
  return JSON.stringify([app.workspace.database, app.schema, collection.id, keys, filter ?? '']);
}

function refuse(reason: string): never {
  failValidation([{ field: 'cursor', reason }]);
}
