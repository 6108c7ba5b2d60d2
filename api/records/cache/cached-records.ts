// Records that were read, cached until a write can have changed them: they are exact, or not cached at all.
import { textLength } from '../../../storage/sql/json-text.ts';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { RecordTarget } from '../collection.ts';
import { readSetOfRecord } from './read-set.ts';
import { TenantLru } from './tenant-lru.ts';
import { hashOf, type WriteTracker } from './write-tracker.ts';

/** Of all records together. */
const defaultMaxBytes = 48 * 1_048_576;
/** Longer records are not cached. Characters. */
const maxRecordLength = 16_384;
/** The most that V8 makes of a record, in bytes: besides its fields, for each of them, and for each character. */
const recordBytes = 320;
const fieldBytes = 64;
const characterBytes = 2;
/** How many records that were read once are known, by `hashOf`. */
const maxReadOnce = 65_536;

/** The records of the only process that writes to a cluster. */
export class CachedRecords {
  readonly #tracker: WriteTracker;
  readonly #records: TenantLru<CachedRecord>;
  readonly #readOnce = new Uint32Array(maxReadOnce);
  /** A collection that is dropped and made again has the name and the version that it had. */
  readonly #numbers = new WeakMap<CollectionDefinition, number>();
  #lastNumber = 0;

  constructor(tracker: WriteTracker, maxBytes = defaultMaxBytes) {
    this.#tracker = tracker;
    this.#records = new TenantLru(maxBytes);
  }

  /** The record with this id (a UUID), read by `read` where it is not cached. It is shared: nobody may change it. */
  find(
    target: RecordTarget,
    id: string,
    read: () => Promise<StoredRecord | undefined>,
  ): StoredRecord | undefined | Promise<StoredRecord | undefined> {
    const { app, collection } = target;
    // Each sign-in changes what users and profiles show.
    if (collection.kind !== 'base') return read();
    const version = this.#tracker.versionOf(readSetOfRecord(app), id);
    if (version === undefined) return read();
    const number = this.#numberOf(collection);
    const cached = this.#records.get(app.workspace.database, keyOf(target, id));
    if (cached?.version === version && cached.collection === number) return cached.record;
    return this.#isReadAgain(id) ? this.#readAndCache(target, { id, version, number, read }) : read();
  }

  async #readAndCache(
    target: RecordTarget,
    { id, version, number, read }: RecordReading,
  ): Promise<StoredRecord | undefined> {
    const record = await read();
    if (record === undefined) return undefined;
    const { all } = textLength(record, maxRecordLength);
    if (all > maxRecordLength) return record;
    Object.freeze(record.fields);
    // A write that has begun since may be in it or not: nobody finds it under the version of before.
    const value = { record: Object.freeze(record), version, collection: number };
    const size = recordBytes + fieldBytes * target.collection.fields.length + characterBytes * all;
    this.#records.add(target.app.workspace.database, { key: keyOf(target, id), value, size });
    return record;
  }

  /** A record that is read only once would take the place of others. */
  #isReadAgain(id: string): boolean {
    const hash = hashOf(id);
    const slot = hash & (maxReadOnce - 1);
    if (this.#readOnce[slot] === hash) return true;
    this.#readOnce[slot] = hash;
    return false;
  }

  #numberOf(collection: CollectionDefinition): number {
    let number = this.#numbers.get(collection);
    if (number === undefined) this.#numbers.set(collection, number = ++this.#lastNumber);
    return number;
  }
}

/** A record as it was read. */
interface CachedRecord {
  record: StoredRecord;
  version: number;
  /** The number of its collection. */
  collection: number;
}

/** A record that is about to be read and cached. */
interface RecordReading {
  id: string;
  version: number;
  /** The number of its collection. */
  number: number;
  read: () => Promise<StoredRecord | undefined>;
}

function keyOf({ app }: RecordTarget, id: string): string {
  return `${app.schema} ${id.toLowerCase()}`;
}
