// Reading the records that a full-text search finds: those that have the words, else those that have similar ones.
import type { RecordSelection } from '../../../storage/app/search/searched-selection.ts';
import {
  countRecords,
  countStatement,
  type RecordSlice,
  selectSlice,
} from '../../../storage/app/records/records.ts';
import { rankColumn, type RecordSearch, tsqueryOf } from '../../../storage/app/search/record-search.ts';
import type { RecordScope } from '../collection.ts';
import { isWithinEdits, maxEdits } from './edit-distance.ts';
import type { ReadPage } from '../read.ts';

/** A page of the records that a search finds. */
export interface SearchReading {
  /** Without the search. */
  selection: RecordSelection;
  words: readonly string[];
  /** How the page before was found; undefined on a page that has no cursor. */
  similar: boolean | undefined;
  slice: Omit<RecordSlice, 'withSnapshot'>;
  /** False when nobody asked for the total. */
  counted: boolean;
}

/** The records of a page, and how they were found. */
export interface FoundPage extends ReadPage {
  /** True when no record has the words, so that similar ones count. */
  similar: boolean;
  /** The rank of the last record, in a list by rank. */
  lastRank: number | undefined;
}

type Scope = Pick<RecordScope, 'plan' | 'connection'>;

/**
 * Reads a page. Similar words count only if no record that the caller may list has the words, so that nothing depends on other
 * records. Throws `RowsTooLarge`.
 */
export async function readFound(scope: Scope, reading: SearchReading): Promise<FoundPage> {
  const { slice, similar, words } = reading;
  if (similar === true) return await readSimilar(scope, reading);
  const exact = { query: tsqueryOf(words.map((word) => [word])), isNormalized: false };
  const selection = selectionOf(reading, exact);
  const found = { ...await readWhere(scope, reading, selection), similar: false };
  if (similar === false || found.records.length > 0 || scope.plan.search?.tolerant !== true) return found;
  // A page behind the last one is empty too.
  const isBehind = slice.offset > 0 && (await countFound(scope, selection)) > 0;
  return isBehind ? found : await readSimilar(scope, reading);
}

async function readSimilar(scope: Scope, reading: SearchReading): Promise<FoundPage> {
  const query = await similarQuery(scope, reading.words);
  if (query === undefined) {
    return { records: [], hasMore: false, total: 0, similar: true, lastRank: undefined };
  }
  const selection = selectionOf(reading, { query, isNormalized: true });
  return { ...await readWhere(scope, reading, selection), similar: true };
}

/** Undefined when no record of the collection has similar words. */
async function similarQuery(
  { plan, connection }: Scope,
  words: readonly string[],
): Promise<string | undefined> {
  const found = await connection.transaction(async (sql) =>
    await plan.search?.similarWords(sql, words) ?? []
  );
  const places = found.map(({ lexeme, similar }) => {
    const max = maxEdits(lexeme);
    return [lexeme, ...similar.filter((word) => max > 0 && isWithinEdits(lexeme, word, max))];
  });
  return places.some(({ length }) => length > 1) ? tsqueryOf(places) : undefined;
}

async function readWhere(
  scope: Scope,
  { slice, counted }: SearchReading,
  selection: RecordSelection,
): Promise<Omit<FoundPage, 'similar'>> {
  const { records, hasMore, lastRank } = await scope.connection.run((sql) =>
    selectSlice(sql, scope.plan, selection, { ...slice, withSnapshot: false })
  );
  const page = { records, hasMore, lastRank };
  if (!counted) return { ...page, total: 0 };
  const seen = slice.offset + records.length;
  const isLast = slice.after === undefined && !hasMore && (records.length > 0 || slice.offset === 0);
  return { ...page, total: isLast ? seen : Math.max(await countFound(scope, selection), records.length) };
}

async function countFound({ plan, connection }: Scope, selection: RecordSelection): Promise<number> {
  const statement = countStatement(plan, selection);
  const { total } = await connection.run((sql) => countRecords(sql, statement));
  return total;
}

function selectionOf({ selection, slice }: SearchReading, search: RecordSearch): RecordSelection {
  const isRanked = slice.sort.some(({ column }) => column === rankColumn);
  return { ...selection, search, isRanked, isAdHoc: true };
}
