// Listing collections: from memory, where the definitions are.
import type { AppDefinition } from '../../storage/definition.ts';
import { offsetOf, type Page, pageOf, type PageRequest } from '../../storage/page.ts';
import { answerOf, type CollectionAnswer } from './answer.ts';

/** The collections of an app in the order of their ids. */
export function listCollections({ collections }: AppDefinition, page: PageRequest): Page<CollectionAnswer> {
  const offset = offsetOf(page);
  const items = [...collections.values()]
    .sort((a, b) => a.id < b.id ? -1 : 1)
    .slice(offset, offset + page.per_page)
    .map(answerOf);
  return pageOf(items, collections.size, page);
}
