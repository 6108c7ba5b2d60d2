// Lists collections, from the definitions in memory.
import type { AppDefinition } from '../../storage/definition.ts';
import { type Page, type PageRequest, slicePage } from '../../storage/sql/page.ts';
import { type CollectionResponse, showCollection } from './response.ts';

/** A page of the collections of an app, in the order of their ids. */
export function listCollections({ collections }: AppDefinition, page: PageRequest): Page<CollectionResponse> {
  const slice = slicePage([...collections.values()].sort((a, b) => a.id < b.id ? -1 : 1), page);
  return { ...slice, items: slice.items.map(showCollection) };
}
