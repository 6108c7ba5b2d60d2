// The relations that point to a collection or to files, and what deleting their target does to them.
import type { AppDefinition, CollectionDefinition, Field } from '../../definition.ts';
import { pointsTo } from '../fields/kinds.ts';
import { leastItems } from '../fields/many.ts';

/** A relation that points to a collection, or a field that holds a file. */
export interface Referrer {
  collection: CollectionDefinition;
  field: string;
  /** Set for a field that holds many. */
  many: ManyReferences | undefined;
  /**
   * `delete`: the record is deleted too. `empty`: its field is emptied, or loses the item. `refuse`: the target cannot be
   * deleted.
   */
  onDelete: 'delete' | 'empty' | 'refuse';
}

/** References that one field of a record holds. */
export interface ManyReferences {
  /** The number of them that a deletion has to leave. */
  least: number;
}

type Referrers = ReadonlyMap<string, readonly Referrer[]>;

// A pure function of the definition, cached as long as the definition is in use.
const known = new WeakMap<AppDefinition, Referrers>();

/** The fields of an app that point to one of its collections, or (`filesId`) to its files. */
export function referrersTo(app: AppDefinition, target: string): readonly Referrer[] {
  let referrers = known.get(app);
  if (referrers === undefined) {
    referrers = findAll(app);
    known.set(app, referrers);
  }
  return referrers.get(target) ?? [];
}

function findAll({ collections }: AppDefinition): Referrers {
  // What a view shows is held by the records that it shows it of.
  const holders = [...collections.values()].filter(({ kind }) => kind !== 'view');
  const all = holders.flatMap((collection) =>
    collection.fields.flatMap((field) => {
      const target = pointsTo(field);
      return target === undefined ? [] : [{
        target,
        collection,
        field: field.name,
        many: field.many === true ? { least: leastItems(field) } : undefined,
        onDelete: deleteOutcome(field),
      }];
    })
  );
  return Map.groupBy(all, ({ target }) => target);
}

function deleteOutcome({ cascade_delete, required, many }: Field): Referrer['onDelete'] {
  if (cascade_delete === true) return 'delete';
  return many !== true && required === true ? 'refuse' : 'empty';
}
