// Realtime events of records: published once, after the commit of what wrote them.
import { pointsTo } from '../../storage/app/fields/kinds.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { toJson } from '../../storage/sql/json-text.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import { type ChangeType, deletedKey, type DeletedRecords } from '../realtime/event.ts';
import type { Publisher } from '../realtime/ports.ts';
import { exactTopic } from '../realtime/topic.ts';
import { backwardRelations } from '../rules/compile.ts';
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
/** Deleted records that one deletion is published with: a project may go along with thousands of others. */
const maxLost = 1_000;

/** The records that one transaction deleted. */
class LostRecords {
  readonly #app: AppDefinition;
  readonly #records: ReadonlyMap<string, StoredRecord>;
  readonly #bytes = new Map<string, number>();
  /** The records that lead to one by a relation which rules follow backwards, by the key of that one. */
  readonly #referrers: ReadonlyMap<string, string[]>;

  constructor(app: AppDefinition, records: readonly StoredRecord[]) {
    this.#app = app;
    this.#records = new Map(records.map((record) => [deletedKey(record.collection, record.id), record]));
    this.#referrers = referrersAmong(app, records);
  }

  /** The deleted records that relations of a record lead to, and rules from there. */
  from(record: StoredRecord): DeletedRecords | undefined {
    const records = new Map<string, StoredRecord>();
    let next = [record];
    for (let hops = 0; hops < maxHops && next.length > 0; hops++) {
      next = next.flatMap((place) => this.#keysFrom(place)).flatMap((key) => {
        const found = records.has(key) || records.size >= maxLost ? undefined : this.#records.get(key);
        if (found === undefined) return [];
        records.set(key, found);
        return [found];
      });
    }
    if (records.size === 0) return undefined;
    const bytes = records.entries().reduce((sum, [key, found]) => sum + this.#bytesOf(key, found), 0);
    return { records, bytes };
  }

  #pointedToBy({ collection, fields }: StoredRecord): string[] {
    const declared = this.#app.collections.get(collection)?.fields ?? [];
    return declared.flatMap((field) => {
      const [target, id] = [pointsTo(field), fields[field.name]];
      return target !== undefined && typeof id === 'string' ? [deletedKey(target, id)] : [];
    });
  }

  #keysFrom(record: StoredRecord): string[] {
    const referrers = this.#referrers.get(deletedKey(record.collection, record.id)) ?? [];
    return [...this.#pointedToBy(record), ...referrers];
  }

  #bytesOf(key: string, { fields }: StoredRecord): number {
    const known = this.#bytes.get(key) ?? toJson(fields).length;
    this.#bytes.set(key, known);
    return known;
  }
}

function referrersAmong(app: AppDefinition, records: readonly StoredRecord[]): Map<string, string[]> {
  const followed = backwardRelations(app);
  const referrers = new Map<string, string[]>();
  for (const { id, collection, fields } of followed.size === 0 ? [] : records) {
    for (const field of app.collections.get(collection)?.fields ?? []) {
      const [target, pointed] = [pointsTo(field), fields[field.name]];
      if (target === undefined || typeof pointed !== 'string') continue;
      if (!followed.has(`${collection}.${field.name}`)) continue;
      const key = deletedKey(target, pointed);
      const known = referrers.get(key) ?? [];
      known.push(deletedKey(collection, id));
      referrers.set(key, known);
    }
  }
  return referrers;
}
