// Published records as filters read them.
import type { FilterRecord } from '../../../storage/app/filter/column-value.ts';
import { collectionOf, type DeletedRecords } from '../event.ts';

type Deleted = DeletedRecords['records'];

/** The records that were deleted together, by their collections: once for all records of a deletion. */
export class LostByCollection {
  readonly #known = new Map<Deleted, Map<string, FilterRecord[]>>();

  of(deleted: Deleted): ReadonlyMap<string, FilterRecord[]> {
    const known = this.#known.get(deleted);
    if (known !== undefined) return known;
    const lost = Map.groupBy(deleted.entries(), ([key]) => collectionOf(key));
    const records = new Map(
      lost.entries().map(([id, found]) => [id, found.map(([, record]) => asFilterRecord(record))]),
    );
    this.#known.set(deleted, records);
    return records;
  }
}

/** A published record as filters read it. Throws `TypeError` for anything else. */
export function asFilterRecord(record: object): FilterRecord {
  if (!isFilterRecord(record)) throw new TypeError('what was published is no record');
  return record;
}

function isFilterRecord(record: object): record is FilterRecord {
  return 'id' in record && typeof record.id === 'string' &&
    'fields' in record && typeof record.fields === 'object' && record.fields !== null &&
    'created_at' in record && typeof record.created_at === 'string' &&
    'updated_at' in record && typeof record.updated_at === 'string';
}
