// Events of records and their encoding, which is made once for all streams.
import { parseJson } from '../../storage/sql/exact-json.ts';
import { toJson } from '../../storage/sql/json-text.ts';
import { cursorLength } from './cursor.ts';

/** The types of events that writes cause. */
export type ChangeType = 'record_created' | 'record_updated' | 'record_deleted';

/** One committed write, or a custom event of a hook, as it is published. `record` must not change afterwards. */
export interface RecordChange {
  /** A `ChangeType`, or the name of a custom event. */
  type: string;
  /** The record as the API shows it: as stored, or as it was before its deletion. */
  record: Readonly<Record<string, unknown>>;
  /** Set for a custom event. Rules and filters are then evaluated on `record`, which is not shown. */
  custom?: CustomEvent | undefined;
  /** Set for a deletion: records that were deleted in the same write and may be related to this one. */
  deleted?: DeletedRecords | undefined;
}

/** The type of what is published when records were written in bulk, of which no events are sent. */
const bulkType = 'bulk';

/** What is published when records of a collection were written in bulk: subscribers have to read it again. */
export const bulkChange: RecordChange = { type: bulkType, record: {} };

/** True when no events say what has changed. */
export function isBulkChange({ type, custom }: RecordChange): boolean {
  return type === bulkType && custom === undefined;
}

/** An event that a hook publishes. */
export interface CustomEvent {
  /** The JSON that is shown. */
  data: unknown;
  /** The fields that `record` has. A rule or filter that reads any other does not pass. */
  fields: ReadonlySet<string>;
}

/** Deleted records as they were, by `deletedKey`, and about how many bytes they take. */
export interface DeletedRecords {
  records: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  bytes: number;
}

/** The key of a record in `DeletedRecords`. */
export function deletedKey(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/** The collection of a record, from its `deletedKey`. */
export function collectionOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/**
 * A change in the order of its collection.
 *
 * A subscriber sees an event if and only if its `record` passes the subscriber's view. So an update that moves a record
 * into the view is seen as `record_updated`, and one that moves it out of the view is not seen at all, because
 * `record_deleted` means a deletion.
 */
export interface RecordEvent extends RecordChange {
  /** Opaque to clients; see cursor.ts. */
  id: string;
  /** The position in the order of the collection, from 1. */
  seq: number;
  /** The whole Server-Sent Event; its JSON goes from `jsonStart` to two bytes before its end. */
  frame: Buffer;
  jsonStart: number;
  /** The memory that it takes in a log, in bytes. */
  weight: number;
}

const idStart = 'id: '.length;
const typeStart = idStart + cursorLength + '\nevent: '.length;

/** Encodes a change as an event. Throws `TypeError` when the record is not JSON. */
export function encodeEvent(change: RecordChange, { seq, id }: { seq: number; id: string }): RecordEvent {
  const { type, record, deleted, custom } = change;
  const head = `id: ${id}\nevent: ${type}\ndata: `;
  // JSON has no line break outside its strings and escapes those inside, so one data line is enough.
  const frame = Buffer.from(
    `${head}${custom === undefined ? toJson(record) : JSON.stringify(custom.data)}\n\n`,
  );
  return { ...change, id, seq, frame, jsonStart: head.length, weight: frame.length + (deleted?.bytes ?? 0) };
}

/** The parts of an event that its frame does not have. Without `record`, the record is the JSON of the frame. */
export type EventExtras = Pick<RecordChange, 'custom' | 'deleted'> & Partial<Pick<RecordChange, 'record'>>;

/** The event of a frame that `encodeEvent` made. Its record is read when it is asked for: most views never do. */
export function readEvent(
  frame: Buffer,
  extras: EventExtras & { seq: number },
): RecordEvent {
  return new FrameEvent(frame, extras);
}

/** A class, whose getter all events share: V8 would make a hidden class for each object with a getter of its own. */
class FrameEvent implements RecordEvent {
  readonly id: string;
  readonly type: string;
  readonly seq: number;
  readonly frame: Buffer;
  readonly jsonStart: number;
  readonly weight: number;
  readonly custom: RecordEvent['custom'];
  readonly deleted: RecordEvent['deleted'];
  #record: RecordChange['record'] | undefined;

  constructor(frame: Buffer, { seq, custom, deleted, record }: EventExtras & { seq: number }) {
    const lineEnd = frame.indexOf('\n', typeStart, 'latin1');
    this.id = frame.toString('latin1', idStart, idStart + cursorLength);
    this.type = frame.toString('latin1', typeStart, lineEnd);
    this.seq = seq;
    this.frame = frame;
    this.jsonStart = lineEnd + '\ndata: '.length;
    this.weight = frame.length + (deleted?.bytes ?? 0);
    this.custom = custom;
    this.deleted = deleted;
    this.#record = record;
  }

  get record(): RecordChange['record'] {
    this.#record ??= parsed(recordJson(this));
    return this.#record;
  }
}

function parsed(json: Buffer): RecordChange['record'] {
  const record = parseJson(json.toString());
  if (!isObject(record)) throw new TypeError('an event whose record is no object');
  return record;
}

function isObject(value: unknown): value is RecordChange['record'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON of an event, as bytes shared with its frame. */
export function recordJson({ frame, jsonStart }: RecordEvent): Buffer {
  return frame.subarray(jsonStart, -2);
}
