// Reads related records from PostgreSQL, in one query for each level and collection.
import { type RowBudget, RowsTooLarge } from '../../../storage/app/records/row-budget.ts';
import type { Databases } from '../../../storage/connections/databases.ts';
import type { AppDefinition, CollectionDefinition } from '../../../storage/definition.ts';
import type { Hop } from '../../../storage/app/filter/condition.ts';
import type { FilterRecord } from '../../../storage/app/filter/column-value.ts';
import { readableCollection } from '../../../storage/workspace/identities.ts';
import { JsonText } from '../../../storage/sql/json-text.ts';
import { planFor } from '../../../storage/app/records/plan.ts';
import { selectPassing } from '../../../storage/app/records/passing.ts';
import { selectRecords } from '../../../storage/app/records/related-records.ts';
import { deletedKey, type RecordChange } from '../event.ts';
import { asFilterRecord, LostByCollection } from './published-records.ts';
import type {
  DecidedViews,
  Related,
  RelatedParts,
  RelatedReader,
  StoredConditions,
} from './related-reads.ts';

/** The size limit of the related records of one batch, roughly in characters. */
const maxCharacters = 67_108_864;

/** Reads related records with the app's own rights. The views decide what callers may see of them. */
export class DatabaseReader implements RelatedReader {
  readonly #databases: Pick<Databases, 'app'>;
  readonly #now: () => Date;
  readonly #app: AppDefinition;

  constructor(
    { databases, now }: { databases: Pick<Databases, 'app'>; now: () => Date },
    app: AppDefinition,
  ) {
    this.#databases = databases;
    this.#now = now;
    this.#app = app;
  }

  async read(
    changes: readonly RecordChange[],
    parts: RelatedParts,
    decided: DecidedViews,
  ): Promise<Related> {
    const [follow, passes] = await Promise.all([
      this.#follow(changes, parts),
      this.#decide(changes, decided),
    ]);
    return { follow, passes };
  }

  async #follow(changes: readonly RecordChange[], parts: RelatedParts): Promise<Related['follow']> {
    const found = new ReadRecords();
    const all = [...parts.values()];
    const narrowed = this.#narrow(parts);
    const room = { left: maxCharacters };
    const depth = Math.max(0, ...all.map(({ hops }) => hops.length));
    for (let level = 1; level <= depth; level++) {
      const missing = found.missing(
        changes,
        all.map(({ hops }) => hops).filter(({ length }) => length === level),
      );
      await Promise.all([...missing].map(async ([target, ids]) => {
        try {
          found.add(target, ids, await this.#select(narrowed.get(target), ids, room));
        } catch (error) {
          found.fail(target, error);
        }
      }));
    }
    return (change, hops) => {
      const part = parts.get(hops);
      if (part === undefined) throw new TypeError(`nobody has asked for ${hops}`);
      return found.follow(change, part.hops);
    };
  }

  async #decide(changes: readonly RecordChange[], decided: DecidedViews): Promise<Related['passes']> {
    const passing = new Map<string, ReadonlySet<RecordChange>>();
    const failures = new Map<CollectionDefinition, unknown>();
    for (const [collection, views] of Map.groupBy(decided, ([, view]) => view.collection)) {
      try {
        const found = await this.#selectPassing(changes, collection, views.map(([, view]) => view));
        for (const [index, [key]] of views.entries()) passing.set(key, found[index] ?? new Set());
      } catch (error) {
        failures.set(collection, error);
      }
    }
    return (change, key) => {
      const found = passing.get(key);
      if (found !== undefined) return found.has(change);
      const collection = decided.get(key)?.collection;
      throw (collection && failures.get(collection)) ?? new TypeError('a view was not decided');
    };
  }

  async #selectPassing(
    changes: readonly RecordChange[],
    collection: CollectionDefinition,
    views: readonly StoredConditions[],
  ): Promise<ReadonlySet<RecordChange>[]> {
    const { workspace: { database }, schema } = this.#app;
    const columns = views.reduce((all, view) => all.union(view.columns), new Set<string>());
    const fields = collection.fields.filter(({ name }) => columns.has(name));
    const target = { app: this.#app, collection: { ...collection, fields } };
    const now = this.#now().getTime();
    const lostIn = new LostByCollection();
    const records = changes.map(({ record, deleted }) => ({
      record: asFilterRecord(record),
      lost: deleted && lostIn.of(deleted.records),
    }));
    const passing = await this.#databases.app(database, schema).run((sql) =>
      selectPassing(sql, target, records, views.map((view) => view.at(now)))
    );
    return passing.map((positions) => new Set(changes.filter((_, position) => positions.has(position))));
  }

  /** The collections, reduced to the fields that the parts name, since records may be large. */
  #narrow(parts: RelatedParts): Map<string, CollectionDefinition> {
    const columns = new Map<string, Set<string>>();
    for (const part of parts.values()) {
      const target = part.hops.at(-1)?.target ?? '';
      columns.set(target, (columns.get(target) ?? new Set()).union(part.columns));
    }
    const narrowed = new Map<string, CollectionDefinition>();
    for (const [target, names] of columns) {
      const collection = readableCollection(this.#app, target);
      if (collection === undefined) continue;
      const fields = collection.fields.filter(({ name }) => names.has(name));
      narrowed.set(target, { ...collection, fields });
    }
    return narrowed;
  }

  async #select(
    collection: CollectionDefinition | undefined,
    ids: ReadonlySet<string>,
    room: RowBudget,
  ): Promise<FilterRecord[]> {
    if (collection === undefined) return [];
    const { workspace: { database }, schema } = this.#app;
    const records = await this.#databases.app(database, schema).run((sql) =>
      selectRecords(sql, planFor(schema, collection), [...ids], { budget: room })
    );
    room.left -= costOfReading(records);
    if (room.left < 0) throw new RowsTooLarge();
    return records;
  }
}

/** The memory of JSON values that rules and filters parse. The text itself has been counted already. */
function costOfReading(records: readonly FilterRecord[]): number {
  let cost = 0;
  for (const { fields } of records) {
    for (const value of Object.values(fields)) if (value instanceof JsonText) cost += 3 * value.text.length;
  }
  return cost;
}

/** The records that were read, by collection and id. */
class ReadRecords {
  readonly #records = new Map<string, Map<string, FilterRecord | undefined>>();
  readonly #failures = new Map<string, unknown>();

  /** The ids of the records that the paths lead to and that were not read yet, by collection. */
  missing(changes: readonly RecordChange[], paths: readonly (readonly Hop[])[]): Map<string, Set<string>> {
    const missing = new Map<string, Set<string>>();
    for (const hops of paths) {
      const last = hops.at(-1);
      if (last === undefined) continue;
      const ids = missing.get(last.target) ?? new Set();
      for (const change of changes) {
        const id = this.#idAt(change, hops.slice(0, -1), last);
        if (id !== undefined && !this.#isKnown(change, last.target, id)) ids.add(id);
      }
      if (ids.size > 0) missing.set(last.target, ids);
    }
    return missing;
  }

  add(target: string, ids: Iterable<string>, records: readonly FilterRecord[]): void {
    const known = this.#records.get(target) ?? new Map<string, FilterRecord | undefined>();
    for (const id of ids) known.set(id, undefined);
    for (const record of records) known.set(record.id, record);
    this.#records.set(target, known);
  }

  fail(target: string, failure: unknown): void {
    this.#failures.set(target, failure);
  }

  /** The record that hops lead to. Throws when it, or a record on the way, could not be read. */
  follow(change: RecordChange, hops: readonly Hop[]): FilterRecord | undefined {
    let record: FilterRecord | undefined = asFilterRecord(change.record);
    for (const { column, target } of hops) {
      const id = idIn(record, column);
      if (id === undefined) return undefined;
      record = deletedRecord(change, target, id) ?? this.#get(target, id);
    }
    return record;
  }

  #idAt(change: RecordChange, before: readonly Hop[], { column }: Hop): string | undefined {
    const isBroken = before.some(({ target }) => this.#failures.has(target));
    return isBroken ? undefined : idIn(this.follow(change, before), column);
  }

  #isKnown(change: RecordChange, target: string, id: string): boolean {
    return deletedRecord(change, target, id) !== undefined || this.#records.get(target)?.has(id) === true;
  }

  #get(target: string, id: string): FilterRecord | undefined {
    const known = this.#records.get(target);
    if (known?.has(id) === true) return known.get(id);
    throw this.#failures.get(target) ?? new TypeError(`a record of ${target} was not read`);
  }
}

function deletedRecord({ deleted }: RecordChange, target: string, id: string): FilterRecord | undefined {
  const record = deleted?.records.get(deletedKey(target, id));
  return record === undefined ? undefined : asFilterRecord(record);
}

function idIn(record: FilterRecord | undefined, column: string): string | undefined {
  const id = record?.fields[column];
  return typeof id === 'string' ? id : undefined;
}
