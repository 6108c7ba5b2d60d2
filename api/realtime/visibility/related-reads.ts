// Related records that views need besides the changed record, read once for all views.
import { hopPath, type RelatedPart } from '../../../storage/app/filter/condition.ts';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import type { FilterRecord } from '../../../storage/app/filter/column-value.ts';
import type { Restriction } from '../../../storage/app/records/restriction.ts';
import type { RecordChange } from '../event.ts';

/** Parts of related records, by the name of the hops that lead to them. */
export type RelatedParts = ReadonlyMap<string, RelatedPart>;

/** The related records of some changes. Throws for what could not be read, so that only the views fail that need it. */
export interface Related {
  /** The record that hops lead to from the record of a change; undefined when there is none. */
  follow(change: RecordChange, hops: string): FilterRecord | undefined;
  /** True when the database found that the record of a change passes the view with this key. */
  passes(change: RecordChange, key: string): boolean;
}

/** The conditions of a view that the database decides. */
export interface StoredConditions {
  collection: CollectionDefinition;
  /** The columns of the record that they read. */
  columns: ReadonlySet<string>;
  /** At a time in milliseconds since 1970. */
  at(now: number): Restriction[];
}

/** Views that the database decides, by their keys. */
export type DecidedViews = ReadonlyMap<string, StoredConditions>;

/** Reads related records by one version of an app's definitions. */
export interface RelatedReader {
  /** Reads the given parts of the related records of some changes, and decides views. */
  read(changes: readonly RecordChange[], parts: RelatedParts, decided: DecidedViews): Promise<Related>;
}

/** The related records that a view needs, and their reader. Views with the same reader share queries. */
export interface RelatedQuery {
  reader: RelatedReader;
  parts: RelatedParts;
  /** Set for a view that asks for records of which there may be many: the database decides it. */
  decided?: StoredConditions | undefined;
}

/** A view that may need related records. */
export interface RelatedConsumer {
  key: string;
  related?: RelatedQuery | undefined;
}

/** The related records of a batch, by their reader. */
export type RelatedByReader = ReadonlyMap<RelatedReader, Related>;

/** Reads the related records of some views. Never rejects: a failed read throws on use. */
export async function readRelated(
  changes: readonly RecordChange[],
  views: Iterable<RelatedConsumer>,
): Promise<RelatedByReader> {
  const needs = new Map<
    RelatedReader,
    { parts: Map<string, RelatedPart>; decided: Map<string, StoredConditions> }
  >();
  for (const { key, related } of views) {
    if (related === undefined) continue;
    const need = needs.get(related.reader) ?? { parts: new Map(), decided: new Map() };
    mergeParts(need.parts, related.parts);
    if (related.decided !== undefined) need.decided.set(key, related.decided);
    needs.set(related.reader, need);
  }
  const read = [...needs].map(async ([reader, { parts, decided }]): Promise<[RelatedReader, Related]> => {
    try {
      return [reader, await reader.read(changes, parts, decided)];
    } catch (error) {
      return [reader, unread(error)];
    }
  });
  return new Map(await Promise.all(read));
}

function unread(error: unknown): Related {
  const fail = () => {
    throw error;
  };
  return { follow: fail, passes: fail };
}

/** Adds parts to others. */
export function mergeParts(parts: Map<string, RelatedPart>, more: RelatedParts): void {
  for (const { hops, columns } of more.values()) {
    const name = hopPath(hops);
    const known = parts.get(name);
    parts.set(name, { hops, columns: known === undefined ? columns : known.columns.union(columns) });
  }
}

const nothing: Related = { follow: () => undefined, passes: () => false };

/** The related records that a view reads. Throws when they have not been read. */
export function relatedFor({ related }: RelatedConsumer, read: RelatedByReader | undefined): Related {
  if (related === undefined) return nothing;
  const found = read?.get(related.reader);
  if (found === undefined) throw new TypeError('a view was asked before its related records were read');
  return found;
}
