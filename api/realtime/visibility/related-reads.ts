// What views look at besides the record that has changed: read once for all of them.
import { hopPath, type RelatedPart } from '../../../storage/app/filter/condition.ts';
import type { FilterRecord } from '../../../storage/app/filter/evaluate.ts';
import type { RecordChange } from '../event.ts';

/** Related records by the name of their hops, as `relatedIn` gives them. */
export type RelatedParts = ReadonlyMap<string, RelatedPart>;

/**
 * The record that hops lead to from the record of a change, or undefined where there is none. Throws when it could not be
 * read, so that only those fail who ask for it.
 */
export type Related = (change: RecordChange, hops: string) => FilterRecord | undefined;

/** Reads related records as one version of an app's definitions knows them. */
export interface RelatedReader {
  /** Reads what the parts of some changes are. */
  read(changes: readonly RecordChange[], parts: RelatedParts): Promise<Related>;
}

/** Which related records a view looks at, and who reads them. Views with one reader are read for together. */
export interface RelatedQuery {
  reader: RelatedReader;
  parts: RelatedParts;
}

/** What may look at related records: a view. */
export interface RelatedConsumer {
  related?: RelatedQuery | undefined;
}

/** What was read for a batch. */
export type RelatedByReader = ReadonlyMap<RelatedReader, Related>;

/** Reads what some views look at. Never rejects: what could not be read throws when it is asked for. */
export async function readRelated(
  changes: readonly RecordChange[],
  views: Iterable<RelatedConsumer>,
): Promise<RelatedByReader> {
  const wanted = new Map<RelatedReader, Map<string, RelatedPart>>();
  for (const { related } of views) {
    if (related === undefined) continue;
    const parts = wanted.get(related.reader) ?? new Map<string, RelatedPart>();
    mergeParts(parts, related.parts);
    wanted.set(related.reader, parts);
  }
  const read = [...wanted].map(async ([reader, parts]): Promise<[RelatedReader, Related]> => {
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
