// Related records that views need besides the changed record, read once for all views.
import { hopPath, type RelatedPart } from '../../../storage/app/filter/condition.ts';
import type { FilterRecord } from '../../../storage/app/filter/evaluate.ts';
import type { RecordChange } from '../event.ts';

/** Parts of related records, by the name of the hops that lead to them. */
export type RelatedParts = ReadonlyMap<string, RelatedPart>;

/**
 * Returns the record that hops lead to from the record of a change; undefined when there is none. Throws when it could not
 * be read, so that only the views fail that need it.
 */
export type Related = (change: RecordChange, hops: string) => FilterRecord | undefined;

/** Reads related records by one version of an app's definitions. */
export interface RelatedReader {
  /** Reads the given parts of the related records of some changes. */
  read(changes: readonly RecordChange[], parts: RelatedParts): Promise<Related>;
}

/** The related records that a view needs, and their reader. Views with the same reader share queries. */
export interface RelatedQuery {
  reader: RelatedReader;
  parts: RelatedParts;
}

/** A view that may need related records. */
export interface RelatedConsumer {
  related?: RelatedQuery | undefined;
}

/** The related records of a batch, by their reader. */
export type RelatedByReader = ReadonlyMap<RelatedReader, Related>;

/** Reads the related records of some views. Never rejects: a failed read throws on use. */
export async function readRelated(
  changes: readonly RecordChange[],
  views: Iterable<RelatedConsumer>,
): Promise<RelatedByReader> {
  const partsByReader = new Map<RelatedReader, Map<string, RelatedPart>>();
  for (const { related } of views) {
    if (related === undefined) continue;
    const parts = partsByReader.get(related.reader) ?? new Map<string, RelatedPart>();
    mergeParts(parts, related.parts);
    partsByReader.set(related.reader, parts);
  }
  const read = [...partsByReader].map(async ([reader, parts]): Promise<[RelatedReader, Related]> => {
    try {
      return [reader, await reader.read(changes, parts)];
    } catch (error) {
      return [reader, () => {
        throw error;
      }];
    }
  });
  return new Map(await Promise.all(read));
}

/** Adds parts to others. */
export function mergeParts(parts: Map<string, RelatedPart>, more: RelatedParts): void {
  for (const { hops, columns } of more.values()) {
    const name = hopPath(hops);
    const known = parts.get(name);
    parts.set(name, { hops, columns: known === undefined ? columns : known.columns.union(columns) });
  }
}

const nothing: Related = () => undefined;

/** The related records that a view reads. Throws when they have not been read. */
export function relatedFor({ related }: RelatedConsumer, read: RelatedByReader | undefined): Related {
  if (related === undefined) return nothing;
  const found = read?.get(related.reader);
  if (found === undefined) throw new TypeError('a view was asked before its related records were read');
  return found;
}
