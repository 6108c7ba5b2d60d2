// Cursors of lists: where a page ended, sealed so that nobody reads the values in them or makes one.
import type { ListPosition, SortKey } from '../../../storage/app/records/list-order.ts';
import { rankColumn } from '../../../storage/app/search/record-search.ts';
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
  /** The words of a search. */
  search: readonly string[] | undefined;
}

/** The position behind a page, and the number of that page. */
export interface ListPlace {
  position: ListPosition;
  page: number;
  /** See `FoundPage`; undefined without a search. */
  similar: boolean | undefined;
}

/** The last record of a page. In a search also its rank, and how it was found. */
export interface PageEnd {
  record: StoredRecord;
  page: number;
  found?: { lastRank: number | undefined; similar: boolean } | undefined;
}

/** The longest values that a cursor holds, in bytes of their JSON: it must fit a URL, beside a filter. */
const maxValueBytes = 4_096;

/** The cursor that continues a list after the last record of a page. */
export function writeCursor(secrets: Secrets, list: CursorList, { record, page, found }: PageEnd): string {
  const values = list.sort.map(({ column }) =>
    column === rankColumn ? found?.lastRank ?? null : sortValue(record, column)
  );
  const how = found === undefined ? [] : [Number(found.similar)];
  const place = JSON.stringify([page, record.id, ...values, ...how]);
  const held = Buffer.byteLength(place) > maxValueBytes ? JSON.stringify([page]) : place;
  return secrets.seal('list-cursor', ownerOf(list), Buffer.from(held)).toString('base64url');
}

/** Reads a cursor. Throws `400 validation` for anything but a cursor of this list. */
export function readCursor(secrets: Secrets, list: CursorList, cursor: string): ListPlace {
  const sealed = Buffer.from(cursor, 'base64url');
  const place = secrets.tryOpen('list-cursor', ownerOf(list), sealed);
  if (place === undefined) {
    refuse(`is not a next_cursor of a list of this collection with this ${namesOf(list)}`);
  }
  // `writeCursor` has made it, or it would not open.
  const [page, id, ...values] = JSON.parse(place.toString()) as Place;
  if (id === undefined) {
    refuse(`the page before ended with values of the sort fields of over ${maxValueBytes} bytes; use page`);
  }
  const similar = list.search === undefined ? undefined : values.pop() === 1;
  return { position: { id, values }, page, similar };
}

type Place = [page: number, id?: string, ...values: (string | number | null)[]];

/** The value of a record as it is sent to PostgreSQL. */
function sortValue(record: StoredRecord, column: string): string | number | null {
  if (column === 'id' || column === 'created_at' || column === 'updated_at') return record[column];
  const value = record.fields[column] ?? null;
  if (value === null || typeof value === 'number') return value;
  return value instanceof JsonText ? value.text : String(value);
}

/** The values of another list, or of a field that has got another kind, may not be compared with those of this one. */
function ownerOf({ scope: { target: { app, collection }, plan }, sort, filter, search }: CursorList): string {
  const keys = sort.map(({ column, descending }) => [column, descending, plan.rows.kindOf(column)]);
  const words = search === undefined ? [] : [search];
  return JSON.stringify([app.workspace.database, app.schema, collection.id, keys, filter ?? '', ...words]);
}

function namesOf({ search }: CursorList): string {
  return search === undefined ? 'sort and filter' : 'sort, filter and search';
}

function refuse(reason: string): never {
  failValidation([{ field: 'cursor', reason }]);
}
