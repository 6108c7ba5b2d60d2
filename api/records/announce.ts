// Tells those who watch a collection what was written: after the commit, once.
import { pointsTo } from '../../storage/app/fields/kinds.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { jsonOf } from '../../storage/sql/json-text.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import type { Deps } from '../deps.ts';
import { type ChangeType, type Gone, goneKey } from '../realtime/event.ts';
import type { Publisher } from '../realtime/ports.ts';
import { exactTopicOf } from '../realtime/topic.ts';
import type { Removal } from './relations/cascade.ts';
import { placeOf } from './write-order.ts';

/** A record that was written. */
export interface Written {
  type: ChangeType;
  record: StoredRecord;
}

/** To be called as soon as a write is known to be committed: the order of the calls is the order of the events. */
export function announce(
  { realtime }: { realtime: Publisher },
  app: AppDefinition,
  { type, record, gone }: Written & { gone?: Gone | undefined },
): void {
  const collection = app.collections.get(record.collection);
  if (collection === undefined) return; // it has been dropped since: nobody watches it any more
  realtime.publish(exactTopicOf(app, collection), { type, record, ...(gone === undefined ? {} : { gone }) });
}

/**
 * The same for everything that one transaction wrote in an app. Who may see a deletion may depend on records that went
 * along, so each is told with those; `others` are such records too, but nobody is told of them.
 */
export function announceAll(
  deps: { realtime: Publisher },
  app: AppDefinition,
  written: readonly Written[],
  others: readonly StoredRecord[] = [],
): void {
  const lost = new LostRecords(app, [...deletedOf(written), ...others]);
  for (const each of written) {
    announce(deps, app, {
      ...each,
      gone: each.type === 'record_deleted' ? lost.from(each.record) : undefined,
    });
  }
}

/** What one transaction did. */
export interface Tidings {
  written: readonly Written[];
  /** Places of which the caller has the turn already. */
  held: readonly string[];
  /** See `announceAll`. */
  others?: readonly StoredRecord[];
}

/**
 * As `announceAll`, after the writes under way of records that went along with others: those were done before, or find
 * nothing any more.
 */
export async function announceInTurn(
  deps: { realtime: Publisher } & Pick<Deps, 'writeOrder'>,
  app: AppDefinition,
  { written, held, others }: Tidings,
): Promise<void> {
  const places = [...new Set(deletedOf(written).map(({ id }) => placeOf(app, id))).difference(new Set(held))];
  await deps.writeOrder.inTurn(places, () => Promise.resolve(announceAll(deps, app, written, others)));
}

function deletedOf(written: readonly Written[]): StoredRecord[] {
  return written.filter(({ type }) => type === 'record_deleted').map(({ record }) => record);
}

/** Everything that a deletion changed. */
export function writtenBy({ updated, deleted }: Removal): Written[] {
  return [
    ...updated.map(({ record }): Written => ({ type: 'record_updated', record })),
    ...deleted.map((record): Written => ({ type: 'record_deleted', record })),
  ];
}

/** A filter follows three relations, and the rule of what it finds there three more. */
const maximalHops = 6;

/** Records that went in one transaction. */
class LostRecords {
  readonly #app: AppDefinition;
  readonly #records: ReadonlyMap<string, StoredRecord>;
  readonly #bytes = new Map<string, number>();

  constructor(app: AppDefinition, records: readonly StoredRecord[]) {
    this.#app = app;
    this.#records = new Map(records.map((record) => [goneKey(record.collection, record.id), record]));
  }

  /** Those of them that relations of a record lead to. */
  from(record: StoredRecord): Gone | undefined {
    const records = new Map<string, StoredRecord>();
    let next = [record];
    for (let hops = 0; hops < maximalHops && next.length > 0; hops++) {
      next = next.flatMap((place) => this.#pointedToBy(place)).flatMap((key) => {
        const found = records.has(key) ? undefined : this.#records.get(key);
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
      return target !== undefined && typeof id === 'string' ? [goneKey(target, id)] : [];
    });
  }

  #bytesOf(key: string, { fields }: StoredRecord): number {
    const known = this.#bytes.get(key) ?? jsonOf(fields).length;
    this.#bytes.set(key, known);
    return known;
  }
}
