// The names of what a search consists of: of the one that a collection has, and of the next one, which is built beside it.
import { quoteIdentifier } from '../../sql/quote.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';

/** The column of words. No field can have the name. */
export const searchColumn = '_search';
/** The column of words that is filled while the collection has another one, or none. */
export const nextColumn = '_search_next';

/** Quoted, qualified names of a collection's table and of its search; those of columns and indexes without the schema. */
export interface SearchNames {
  table: string;
  column: string;
  /** The function that computes the column of words. */
  vector: string;
  /** The index on the column of words. */
  index: string;
  /** The table of words, and the function that keeps it. */
  words: string;
  /** The index on the table of words. */
  trigrams: string;
}

/** The quoted name of the table of all words of a collection, which a collection without search does not have. */
export function searchWordsTable(table: TableName): string {
  return searchNames(table).words;
}

/** The names of the search over a column of words. */
export function searchNames(table: TableName, column = searchColumn): SearchNames {
  const named = (attachment: 'vector' | 'search' | 'words' | 'trigrams') =>
    attachmentName(attachment, table.collection, column);
  const inSchema = (name: string) => qualified({ schema: table.schema, collection: name });
  return {
    table: qualified(table),
    column: quoteIdentifier(column),
    vector: inSchema(named('vector')),
    index: quoteIdentifier(named('search')),
    words: inSchema(named('words')),
    trigrams: quoteIdentifier(named('trigrams')),
  };
}
