// What happened to a record, and its form on the wire: encoded once, however many streams it goes to.
import { toJson } from '../../storage/sql/json-text.ts';
import { cursorLength } from './cursor.ts';

/** Kinds of event, as the interface names them. */
export type ChangeType = 'record_created' | 'record_updated' | 'record_deleted';

/** One committed write, or what a hook has made up, as it is published. Nobody may change `record` afterwards. */
export interface RecordChange {
  /** A `ChangeType`, or the name that a hook gave. */
  type: string;
  /** The record as the API shows it: as stored now, or as it was when it was deleted. */
  record: Readonly<Record<string, unknown>>;
  /** Of an event that a hook made up: `record` then stands for one in what rules and filters ask, and is not shown. */
  custom?: CustomEvent | undefined;
  /** Of a deletion: what went in the same write and can be reached from the record. Nobody finds it elsewhere any more. */
  deleted?: DeletedRecords | undefined;
}

/** An event that a hook made up. */
export interface CustomEvent {
  /** What is shown: JSON. */
  data: unknown;
  /** Names of what `record` holds; a rule or filter that reads anything else is not met. */
  fields: ReadonlySet<string>;
}

/** Deleted records as they were, by `goneKey`, and about how many bytes they take. */
export interface DeletedRecords {
  records: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  bytes: number;
}

/** What a record is called in `Gone`. */
export function deletedKey(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/**
 * A change in the order of its collection.
 *
 * A subscriber sees an event if and only if its `record` passes the subscriber's view. So an update that moves a record
 * into the view is seen as `record_updated`, and one that moves it out of the view is not seen at all: what the record
 * has become is no longer the subscriber's business, and `record_deleted` means a deletion.
 */
export interface RecordEvent extends RecordChange {
  /** Opaque to clients; see cursor.ts. */
  id: string;
  /** Place in the order of the collection, from 1. */
  seq: number;
  /** The whole Server-Sent Event; its JSON goes from `jsonStart` to two bytes before its end. */
  frame: Buffer;
  jsonStart: number;
  /** What keeping it costs, in bytes. */
  weight: number;
}

const idStart = 'id: '.length;
const typeStart = idStart + cursorLength + '\nevent: '.length;

/** Gives a change its place and its bytes. Throws `TypeError` when the record is not JSON. */
export function encodeEvent(change: RecordChange, { seq, id }: { seq: number; id: string }): RecordEvent {
  const { type, record, deleted, custom } = change;
  const head = `id: ${id}\nevent: ${type}\ndata: `;
  // JSON has no line break outside its strings and escapes those inside, so one data line is enough.
  const frame = Buffer.from(
    `${head}${custom === undefined ? toJson(record) : JSON.stringify(custom.data)}\n\n`,
  );
  return { ...change, id, seq, frame, jsonStart: head.length, weight: frame.length + (deleted?.bytes ?? 0) };
}

/** What a frame does not say of its event. Without `record`, that is what the frame shows. */
export type EventExtras = Pick<RecordChange, 'custom' | 'deleted'> & Partial<Pick<RecordChange, 'record'>>;

/** The event of a frame that `encodeEvent` custom. Its record is read when it is asked for: most views never do. */
export function readEvent(
  frame: Buffer,
  { seq, custom, deleted, record }: EventExtras & { seq: number },
): RecordEvent {
  const lineEnd = frame.indexOf('\n', typeStart, 'latin1');
  const jsonStart = lineEnd + '\ndata: '.length;
  let known = record;
  return {
    id: frame.toString('latin1', idStart, idStart + cursorLength),
    type: frame.toString('latin1', typeStart, lineEnd),
    seq,
    frame,
    jsonStart,
    weight: frame.length + (deleted?.bytes ?? 0),
    custom,
    deleted,
    get record() {
      known ??= parsed(frame.subarray(jsonStart, -2));
      return known;
    },
  };
}

function parsed(json: Buffer): RecordChange['record'] {
  return JSON.parse(json.toString());
}

/** The bytes of that JSON, shared with the frame. */
export function recordJson({ frame, jsonStart }: RecordEvent): Buffer {
  return frame.subarray(jsonStart, -2);
}
