// Records that were read, remembered until a write can have changed them. Exact, or not remembered at all.
import { measure } from '../../../storage/sql/json-text.ts';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { RecordTarget } from '../collection.ts';
import { basisOfRecord } from './write-set.ts';
import { KeptRecords } from './tenant-lru.ts';
import type { RecordMemory } from '../ports.ts';
import { hashOf, type WriteLedger } from './write-tracker.ts';

/** For a process that does not hear of every write. */
export const noMemory: RecordMemory = { find: (_target, _id, read) => read() };

/** Of all records together, in bytes. */
const mostBytes = 48 * 1_048_576;
/** Longer ones are not remembered. Characters. */
const longestRecord = 16_384;
/** No record takes more, by what V8 makes of it, in bytes: besides its fields, for each of them, and for each character. */
const frame = 320;
const eachField = 64;
const eachCharacter = 2;
/** Records that were asked for once, by `hashOf`. */
const mostAsked = 65_536;

/** For the only process that writes to a cluster. */
export class RememberedRecords implements RecordMemory {
  readonly #writes: WriteLedger;
  readonly #kept: KeptRecords<Known>;
  readonly #asked = new Uint32Array(mostAsked);
  /** A collection that is dropped and made again has the name and the version that it had. */
  readonly #numbers = new WeakMap<CollectionDefinition, number>();
  #lastNumber = 0;

  constructor(writes: WriteLedger, most = mostBytes) {
    this.#writes = writes;
    this.#kept = new KeptRecords(most);
  }

  find(
    target: RecordTarget,
    id: string,
    read: () => Promise<StoredRecord | undefined>,
  ): StoredRecord | undefined | Promise<StoredRecord | undefined> {
    const { app, collection } = target;
    // Each sign-in changes what users and profiles show.
    if (collection.kind !== 'base') return read();
    const stamp = this.#writes.stampOf(basisOfRecord(app), id);
    if (stamp === undefined) return read();
    const number = this.#numberOf(collection);
    const known = this.#kept.get(app.workspace.database, keyOf(target, id));
    if (known?.stamp === stamp && known.collection === number) return known.record;
    return this.#isAskedAgain(id) ? this.#readAndKeep(target, { id, stamp, number, read }) : read();
  }

  async #readAndKeep(
    target: RecordTarget,
    { id, stamp, number, read }: Reading,
  ): Promise<StoredRecord | undefined> {
    const record = await read();
    if (record === undefined) return undefined;
    const { all } = measure(record, longestRecord);
    if (all > longestRecord) return record;
    Object.freeze(record.fields);
    // A write that began meanwhile may be in it or not: nobody finds it under the stamp of before.
    const value = { record: Object.freeze(record), stamp, collection: number };
    const size = frame + eachField * target.collection.fields.length + eachCharacter * all;
    this.#kept.add(target.app.workspace.database, { key: keyOf(target, id), value, size });
    return record;
  }

  /** What is read once only would take the place of others. */
  #isAskedAgain(id: string): boolean {
    const hash = hashOf(id);
    const slot = hash & (mostAsked - 1);
    if (this.#asked[slot] === hash) return true;
    this.#asked[slot] = hash;
    return false;
  }

  #numberOf(collection: CollectionDefinition): number {
    let number = this.#numbers.get(collection);
    if (number === undefined) this.#numbers.set(collection, number = ++this.#lastNumber);
    return number;
  }
}

/** A record as it was read. */
interface Known {
  record: StoredRecord;
  stamp: number;
  collection: number;
}

/** The reading of a record that is to be remembered. */
interface Reading {
  id: string;
  stamp: number;
  number: number;
  read: () => Promise<StoredRecord | undefined>;
}

function keyOf({ app }: RecordTarget, id: string): string {
  return `${app.schema} ${id.toLowerCase()}`;
}
