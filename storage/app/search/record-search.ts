// A full-text search as SQL: the test that a record has the words, and its rank.
import type { CollectionDefinition, SearchSetting } from '../../definition.ts';
import { configurationSql } from './column-of-words.ts';
import { searchedFields } from './index-of-words.ts';
import { searchColumn, searchWordsTable } from './names.ts';
import { extensions } from './table-of-words.ts';
import { quoteIdentifier } from '../../sql/quote.ts';
import { formatArray } from '../../sql/text-array.ts';
import type { Sql } from '../../connections/pool.ts';
import { recordAlias, type Where } from '../records/restriction.ts';

/** The sort key of the rank, which no field can have as its name. */
export const rankColumn = '@rank';

/** The newest records that have the words are ranked, at most so many: all of them may be a whole table. */
const maxRanked = 1_000;

/** As many of the newest records that a condition is true of as are ranked, in the place of their table. */
export function newestSql(records: string, condition: string): string {
  const alias = quoteIdentifier(recordAlias);
  return `(select * from ${records} where ${condition} order by ${alias}."id" desc limit ${maxRanked}) as ${alias}`;
}

/** A search of records as a tsquery. */
export interface RecordSearch {
  query: string;
  /** True when its words are lexemes, false when they must become some. */
  isNormalized: boolean;
}

/** The search of one version of a collection. */
export interface SearchPlan {
  /** True when it finds words with typing errors. */
  tolerant: boolean;
  /** The test that a record has the words, and its rank as a double. Both have one parameter, the first of a statement. */
  write(search: RecordSearch): { where: Where; rank: string };
  /** The words of records that are similar to each word, which becomes a lexeme. */
  similarWords(sql: Sql, words: readonly string[]): Promise<SimilarWords[]>;
}

/** A word as a lexeme, and the lexemes of records that have some trigrams in common with it. */
export interface SimilarWords {
  lexeme: string;
  similar: string[];
}

/** The search of a collection; undefined when none of its fields are searched. */
export function searchPlan(schema: string, collection: CollectionDefinition): SearchPlan | undefined {
  const { id, fields, search } = collection;
  if (search === undefined || search === null || searchedFields(fields).length === 0) return undefined;
  const words = searchWordsTable({ schema, collection: id });
  return {
    tolerant: search.tolerant,
    write: (asked) => writeSearch(asked, search),
    similarWords: (sql, asked) => selectSimilar(sql, asked, { words, search }),
  };
}

/** https://www.postgresql.org/docs/18/textsearch-controls.html */
function writeSearch(
  { query, isNormalized }: RecordSearch,
  search: SearchSetting,
): ReturnType<SearchPlan['write']> {
  const column = `${quoteIdentifier(recordAlias)}.${quoteIdentifier(searchColumn)}`;
  const tsquery = isNormalized ? '$1::text::tsquery' : `to_tsquery(${configurationSql(search)}, $1::text)`;
  return {
    where: { text: `${column} @@ ${tsquery}`, params: [query] },
    rank: `ts_rank(${column}, ${tsquery})::float8`,
  };
}

/** A tsquery for records that have one of the alternatives of each place. The first of the last place may be a beginning. */
export function tsqueryOf(places: readonly (readonly string[])[]): string {
  return places.map((alternatives, index) => {
    const isLast = index === places.length - 1;
    const quoted = alternatives.map((word, at) => quoteWord(word) + (isLast && at === 0 ? ':*' : ''));
    return `(${quoted.join(' | ')})`;
  }).join(' & ');
}

/** In quotes, so that no word is an operator. */
function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** One wrong letter in a word of four leaves it this similar, from 0 to 1: https://www.postgresql.org/docs/18/pgtrgm.html */
const leastSimilarity = '0.2';

/** A word of four letters has too few trigrams to be similar to one with two letters swapped. */
function swapped(word: string): string[] {
  const letters = [...word.toLowerCase()];
  const [a, b, c, d] = letters;
  return letters.length === 4 ? [`${b}${a}${c}${d}`, `${a}${c}${b}${d}`, `${a}${b}${d}${c}`] : [];
}

/** In a transaction. */
async function selectSimilar(
  sql: Sql,
  asked: readonly string[],
  { words, search }: { words: string; search: SearchSetting },
): Promise<SimilarWords[]> {
  await sql`select set_config('pg_trgm.similarity_threshold', ${leastSimilarity}, true)`;
  return await sql.unsafe<SimilarWords[]>(
    `select lexeme, array(
       select word from ${words} where (word operator(${extensions}.%) lexeme or word = any ($2::text::text[])) and word <> lexeme
     ) as similar
     from unnest($1::text::text[]) with ordinality as asked (word, place), coalesce(
       (tsvector_to_array(to_tsvector(${configurationSql(search)}, asked.word)))[1], lower(asked.word)
     ) as lexeme
     order by place`,
    [formatArray(asked), formatArray(asked.flatMap(swapped))],
  );
}
