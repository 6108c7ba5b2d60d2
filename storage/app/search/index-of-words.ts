// The full-text index of a collection: a generated column with the words of its searched fields, and a table of all words,
// in which those with typing errors are looked up.
import type { CollectionDefinition, Field, SearchSetting } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import type { Attached } from '../alter/attached.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import type { Sql } from '../../connections/pool.ts';

/** The column of words. No field can have the name. */
export const searchColumn = '_search';

/** The schema of PostgreSQL's extensions in a workspace's database. */
export const extensions = 'extensions';

/** The definition of a search: what its column, index and table follow from. */
export type Searched = Pick<CollectionDefinition, 'fields' | 'search'>;

/** Quoted, qualified names of a collection's table and of its table of words; of the latter also the plain name. */
export interface SearchNames {
  table: string;
  /** The index on the column of words. */
  index: string;
  words: string;
  /** The index on the table of words. */
  trigrams: string;
}

/** Weights by the order of the fields: https://www.postgresql.org/docs/18/textsearch-controls.html */
const weights = ['A', 'B', 'C', 'D'];

/** The words of one record must fit a tsvector, which holds 1 MiB. Nothing is found beyond this many characters. */
const maxCharacters = 100_000;

/** The fields that a search reads, in the order of their weights. */
export function searchedFields(fields: readonly Field[]): Field[] {
  return fields.filter(({ search }) => search === true);
}

/** The configuration as an SQL literal. */
export function configurationSql({ language }: SearchSetting): string {
  return `${quoteLiteral(`pg_catalog.${quoteIdentifier(language)}`)}::regconfig`;
}

/** The languages of the server, by the names of PostgreSQL's configurations. */
export async function searchLanguages(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select cfgname::text as name from pg_ts_config
    where cfgnamespace = 'pg_catalog'::regnamespace order by cfgname <> 'simple', cfgname`;
  return rows.map(({ name }) => name);
}

/** True when a workspace's database has what finds words with typing errors. */
export async function hasTrigrams(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from pg_extension join pg_namespace as n on n.oid = extnamespace
      where extname = 'pg_trgm' and nspname = ${extensions}) as found`;
  return row?.found === true;
}

/** True when the server has pg_trgm, which new databases then get. */
export async function offersTrigrams(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from pg_available_extensions where name = 'pg_trgm') as found`;
  return row?.found === true;
}

/** The number of indexes that a search needs. */
export function searchIndexes({ fields, search }: Searched): number {
  if (!search || searchedFields(fields).length === 0) return 0;
  return search.tolerant ? 2 : 1;
}

/** The column of words and the table of all words, with their indexes. */
export function searchAttachments(table: TableName, { fields, search }: Searched): Attached[] {
  const searched = searchedFields(fields);
  if (!search || searched.length === 0) return [];
  const length = Math.floor(maxCharacters / searched.length);
  const definition = searched.map(({ name }, index) => {
    const text = `left(coalesce(${quoteIdentifier(name)}, ''), ${length})`;
    const weight = weights[Math.min(index, weights.length - 1)];
    return `setweight(to_tsvector(${configurationSql(search)}, ${text}), '${weight}')`;
  }).join(' || ');
  const names = searchNames(table);
  return [columnOfWords(names, definition), ...search.tolerant ? [tableOfWords(names, definition)] : []];
}

/** The quoted name of the table of all words of a collection, which a collection without search does not have. */
export function searchWordsTable({ schema, collection }: TableName): string {
  return qualified({ schema, collection: attachmentName('words', collection, searchColumn) });
}

function searchNames(table: TableName): SearchNames {
  const named = (attachment: 'search' | 'trigrams') =>
    quoteIdentifier(attachmentName(attachment, table.collection, searchColumn));
  return {
    table: qualified(table),
    index: named('search'),
    words: searchWordsTable(table),
    trigrams: named('trigrams'),
  };
}

const column = quoteIdentifier(searchColumn);

function columnOfWords({ table, index }: SearchNames, definition: string): Attached {
  return {
    name: index,
    add: `alter table ${table} add column ${column} tsvector generated always as (${definition}) stored; ` +
      // Without a list of pending entries, so that no search reads one and no write has to merge it.
      `create index ${index} on ${table} using gin (${column}) with (fastupdate = off)`,
    remove: `alter table ${table} drop column ${column}`,
  };
}

/** What looks like a word that somebody may misspell, and needs no quotes as a tsquery. */
const isWord = `char_length(word) between 3 and 30 and word !~ '[0-9@/.:_''\\\\-]'`;

/** A word that is in so many records is never removed: to find them all takes long, and it is nobody's secret. */
const commonFrom = 1_000;

/**
 * The table of all words. Triggers keep it, statement by statement: they add a word with its first record, and remove it with its
 * last. Rows of known words are not locked, since all writers would wait for each other. So a word that one writer removes while
 * another adds it can be lost: it is then found as it is, and not by a similar one, until it is written again.
 */
function tableOfWords(names: SearchNames, definition: string): Attached {
  const { table, words, trigrams } = names;
  const add = [
    `create table ${words} (word text collate "C" primary key, common boolean not null default false)`,
    // Other texts have other words: then the table is made anew.
    `comment on table ${words} is ${quoteLiteral(definition)}`,
    `create index ${trigrams} on ${words} using gin (word ${extensions}.gin_trgm_ops) with (fastupdate = off)`,
    `insert into ${words} (word) select word from ts_stat(${
      quoteLiteral(`select ${column} from ${table}`)
    }) ` +
    `where ${isWord}`,
    `create function ${words}() returns trigger language plpgsql as ${quoteLiteral(wordsBody(names))}`,
    ...(['insert', 'update', 'delete'] as const).map((event) => wordsTrigger(event, names)),
  ];
  const remove = [`drop function ${words}() cascade`, `drop table ${words}`];
  return { name: words, add: add.join('; '), remove: remove.join('; '), isApart: true };
}

function wordsTrigger(
  event: 'insert' | 'update' | 'delete',
  { table, words }: Pick<SearchNames, 'table' | 'words'>,
): string {
  const rows = [
    ...event === 'insert' ? [] : ['old table as old_rows'],
    ...event === 'delete' ? [] : ['new table as new_rows'],
  ];
  return `create trigger _words_${event} after ${event} on ${table} referencing ${rows.join(' ')} ` +
    `for each statement execute function ${words}()`;
}

function wordsBody({ table, words }: Pick<SearchNames, 'table' | 'words'>): string {
  const wordsOf = (rows: string) =>
    `select word from ${rows}, unnest(tsvector_to_array(${column})) as word where ${isWord}`;
  const found = `select from ${table} where ${column} @@ ('''' || word || '''')::tsquery`;
  return `declare
      added text[];
      removed text[];
    begin
      if tg_op = 'INSERT' then
        added := array(${wordsOf('new_rows')});
      elsif tg_op = 'UPDATE' then
        added := array(${wordsOf('new_rows')} except ${wordsOf('old_rows')});
        removed := array(${wordsOf('old_rows')} except ${wordsOf('new_rows')});
      else
        removed := array(${wordsOf('old_rows')});
      end if;
      -- In order, so that two writers do not wait for each other.
      insert into ${words} (word) select distinct word from unnest(added) as word order by word
        on conflict do nothing;
      delete from ${words} where word = any (removed) and not common and not exists (${found});
      if random() < 0.001 then
        update ${words} set common = true where word = any (added) and not common
          and (select count(*) from (${found} limit ${commonFrom}) as those) = ${commonFrom};
      end if;
      return null;
    end`;
}
