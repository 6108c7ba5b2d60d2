// Realtime events of records: published once, after the commit of what wrote them.
import { pointsTo } from '../../storage/app/fields/kinds.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { toJson } from '../../storage/sql/json-text.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { type ChangeType, deletedKey, type DeletedRecords } from '../realtime/event.ts';
import type { Publisher } from '../realtime/ports.ts';
import { exactTopic } from '../realtime/topic.ts';
import { askedCollections } from '../rules/compile.ts';
import type { Removal } from './relations/cascade.ts';

/** A record that was written. */
export interface WrittenRecord {
  type: ChangeType;
  record: StoredRecord;
}

/** The records that one transaction wrote in an app. */
export interface Announcement {
  written: readonly WrittenRecord[];
  /** Records that were deleted along with those, and are not published themselves. */
  others?: readonly StoredRecord[];
}

/**
 * Publishes what one transaction wrote. To be called as soon as it is known to be committed: the order of the calls is the
 * order of the events.
 */
export function announce(
  deps: { realtime: Publisher },
  app: AppDefinition,
  { written, others = [] }: Announcement,
): void {
  const deleted = deletedRecords(written);
  // The visibility of a deletion may depend on records that went along, so each is published with those.
  const lost = deleted.length === 0 ? undefined : new LostRecords(app, [...deleted, ...others]);
  for (const each of written) {
    publish(deps, app, each, each.type === 'record_deleted' ? lost?.from(each.record) : undefined);
  }
}

/** The records that were deleted. */
export function deletedRecords(written: readonly WrittenRecord[]): StoredRecord[] {
  return written.filter(({ type }) => type === 'record_deleted').map(({ record }) => record);
}

function publish(
  { realtime }: { realtime: Publisher },
  app: AppDefinition,
  { type, record }: WrittenRecord,
  gone?: DeletedRecords,
): void {
  const collection = app.collections.get(record.collection);
  // It has been dropped since, and its subscriptions have ended.
  if (collection === undefined) return;
  realtime.publish(exactTopic(app, collection), {
    type,
    record,
    ...(gone === undefined ? {} : { deleted: gone }),
  });
}

/** The records that a deletion changed. */
export function writtenByRemoval({ updated, deleted }: Removal): WrittenRecord[] {
  return [
    ...updated.map(({ record }): WrittenRecord => ({ type: 'record_updated', record })),
    ...deleted.map((record): WrittenRecord => ({ type: 'record_deleted', record })),
  ];
}

/** A filter follows three relations, and the rule of a record that it finds there three more. */
const maxHops = 6;
/** Deleted records that all deletions of a transaction are published with: a project may go along with thousands of others. */
const maxShared = 1_000;

/** The records that one transaction deleted. */
class LostRecords {
  readonly #app: AppDefinition;
  readonly #records: ReadonlyMap<string, StoredRecord>;
  readonly #bytes = new Map<string, number>();
  /** For rules that follow relations backwards, the records that they ask for, and then others. */
  readonly #shared: DeletedRecords | undefined;

  constructor(app: AppDefinition, records: readonly StoredRecord[]) {
    this.#app = app;
    this.#records = new Map(records.map((record) => [deletedKey(record.collection, record.id), record]));
    this.#shared = this.#shareAmong(askedCollections(app));
  }

  /** The deleted records that relations of a record lead to, and those that rules may ask for. */
  from(record: StoredRecord): DeletedRecords | undefined {
    const records = this.#pointedToFrom(record);
    const shared = this.#shared;
    if (shared !== undefined) {
      if (records.keys().every((key) => shared.records.has(key))) return shared;
      return {
        records: new Map([...shared.records, ...records]),
        bytes: shared.bytes + this.#sizeOf(records),
      };
    }
    return records.size === 0 ? undefined : { records, bytes: this.#sizeOf(records) };
  }

  #shareAmong(asked: ReadonlySet<string>): DeletedRecords | undefined {
    if (asked.size === 0) return undefined;
    const all = [...this.#records];
    const isAsked = ([, { collection }]: [string, StoredRecord]) => asked.has(collection);
    const first = [...all.filter(isAsked), ...all.filter((entry) => !isAsked(entry))].slice(0, maxShared);
    const records = new Map(first);
    // Held once, however many deletions are published with them.
    return { records, bytes: Math.ceil(this.#sizeOf(records) / all.length) };
  }

  #pointedToFrom(record: StoredRecord): Map<string, StoredRecord> {
    const records = new Map<string, StoredRecord>();
    let next = [record];
    for (let hops = 0; hops < maxHops && next.length > 0; hops++) {
      next = next.flatMap((place) => this.#pointedToBy(place)).flatMap((key) => {
        const found = records.has(key) ? undefined : this.#records.get(key);
        if (found === undefined) return [];
        records.set(key, found);
        return [found];
      });
    }
    return records;
  }

  #pointedToBy({ collection, fields }: StoredRecord): string[] {
    const declared = this.#app.collections.get(collection)?.fields ?? [];
    return declared.flatMap((field) => {
      const [target, value] = [pointsTo(field), fields[field.name]];
      if (target === undefined) return [];
      const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
      return ids.flatMap((id) => typeof id === 'string' ? [deletedKey(target, id)] : []);
    });
  }

  #sizeOf(records: ReadonlyMap<string, StoredRecord>): number {
    return records.entries().reduce((sum, [key, found]) => sum + this.#bytesOf(key, found), 0);
  }

  #bytesOf(key: string, { fields }: StoredRecord): number {
    const known = this.#bytes.get(key) ?? toJson(fields).length;
    this.#bytes.set(key, known);
    return known;
  }
}
