// The full-text index of a collection: a column with the words of its searched fields, and a table of all words.
import type { CollectionDefinition, Field } from '../../definition.ts';
import { type Attached, batchSize, type BuildAhead } from '../alter/attached.ts';
import { attachmentName, qualified, type TableName } from '../tables.ts';
import type { Sql } from '../../connections/pool.ts';
import { vectorFunction, vectorTriggers, type WordSource, wordsSql } from './column-of-words.ts';
import { nextColumn, searchColumn, type SearchNames, searchNames } from './names.ts';
import {
  addingTriggers,
  collectWords,
  extensions,
  removeStaleWords,
  wordsFunction,
  wordsTable,
  wordsTriggers,
} from './table-of-words.ts';

/** The definition of a search: what its column, index and table follow from. */
export type Searched = Pick<CollectionDefinition, 'fields' | 'search'>;

/** The fields that a search reads, in the order of their weights. */
export function searchedFields(fields: readonly Field[]): Field[] {
  return fields.filter(({ search }) => search === true);
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

/** The name of the search among the attachments of its table. */
export function searchName({ collection }: TableName): string {
  return attachmentName('search', collection, searchColumn);
}

/** The column of words and the table of all words, with their indexes: one of them never changes without the other. */
export function searchAttachment(table: TableName, { fields, search }: Searched): Attached[] {
  const searched = searchedFields(fields);
  if (!search || searched.length === 0) return [];
  const source: WordSource = { fields: searched, search };
  const names = searchNames(table);
  const add = [
    `alter table ${names.table} add column ${names.column} tsvector`,
    ...vectorTriggers(names, source),
    `update ${names.table} set ${names.column} = ${wordsSql(source)}`,
    `create index ${indexOn(names)}`,
    ...search.tolerant ? [...wordsTable(names), collectWords(names), ...wordsTriggers(names)] : [],
  ];
  return [{
    name: searchName(table),
    add: add.join('; '),
    remove: removeSearch(names),
    follow: vectorFunction('create or replace', names, source),
    isApart: true,
    ahead: searchAhead(table, source),
  }];
}

/** Without a list of pending entries, so that no search reads one and no write has to merge it. */
function indexOn({ index, table, column }: SearchNames): string {
  return `${index} on ${table} using gin (${column}) with (fastupdate = off)`;
}

/** The column goes with its index. Collections of before have a generated column, without a function. */
function removeSearch({ table, column, vector, words }: SearchNames): string {
  return [
    `drop function if exists ${vector}() cascade`,
    `drop function if exists ${words}() cascade`,
    `drop table if exists ${words}`,
    `alter table ${table} drop column if exists ${column}`,
  ].join('; ');
}

/** Removes what is there of a search that is being built, if anything is. */
export function undoNextSearch(table: TableName): string {
  return removeSearch(searchNames(table, nextColumn));
}

/** The next search is built beside the one that is there, and takes its place. */
function searchAhead(table: TableName, source: WordSource): BuildAhead {
  const [names, next] = [searchNames(table), searchNames(table, nextColumn)];
  const { tolerant } = source.search;
  return {
    columns: source.fields.map(({ name }) => name),
    replaces: true,
    prepare: [
      `alter table ${next.table} add column ${next.column} tsvector`,
      ...vectorTriggers(next, source),
      ...tolerant ? [...wordsTable(next), ...addingTriggers(next)] : [],
    ].join('; '),
    steps: [
      { run: 'batches', from: '00000000-0000-0000-0000-000000000000', text: fillSql(next, source) },
      // Each record has been written once more.
      { run: 'alone', text: `vacuum (analyze) ${next.table}` },
      { run: 'alone', text: `create index concurrently ${indexOn(next)}` },
      ...tolerant
        ? [
          { run: 'alone' as const, text: wordsFunction('create or replace', next) },
          removeStaleWords(next),
        ]
        : [],
    ],
    adopt: adoptSql(table, { names, next, source }),
    undo: { run: 'quick', text: undoNextSearch(table) },
  };
}

/** The triggers add the words of each batch to the table of words. */
function fillSql({ table, column }: SearchNames, source: WordSource): string {
  const those = (rest: string) => `select id from ${table} where id >= $1::text::uuid order by id ${rest}`;
  return `with those as (${those(`limit ${batchSize}`)}),
    filled as (update ${table} as r set ${column} = ${
    wordsSql(source, 'r.')
  } from those where r.id = those.id)
    select id::text as next from (${those(`offset ${batchSize} limit 1`)}) as following`;
}

function adoptSql(
  { schema, collection }: TableName,
  { names, next, source }: { names: SearchNames; next: SearchNames; source: WordSource },
): string {
  const name = (attachment: 'search' | 'words' | 'trigrams', column: string) =>
    attachmentName(attachment, collection, column);
  const renamed = (kind: 'index' | 'table', attachment: 'search' | 'words' | 'trigrams') => {
    const old = qualified({ schema, collection: name(attachment, nextColumn) });
    return `alter ${kind} ${old} rename to "${name(attachment, searchColumn)}"`;
  };
  return [
    `drop function ${next.vector}() cascade`,
    `alter table ${names.table} rename column ${next.column} to ${names.column}`,
    ...vectorTriggers(names, source),
    renamed('index', 'search'),
    ...source.search.tolerant
      ? [
        `drop function ${next.words}() cascade`,
        renamed('table', 'words'),
        renamed('index', 'trigrams'),
        ...wordsTriggers(names),
      ]
      : [],
  ].join('; ');
}
