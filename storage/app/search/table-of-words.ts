// The table of all words of a collection's searched fields, in which those with typing errors are looked up.
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import { batchSize, type BuildStep } from '../alter/attached.ts';
import type { SearchNames } from './names.ts';

/** The schema of PostgreSQL's extensions in a workspace's database. */
export const extensions = 'extensions';

/** What looks like a word that somebody may misspell, and needs no quotes as a tsquery. */
const isWord = `char_length(word) between 3 and 30 and word !~ '[0-9@/.:_''\\\\-]'`;

/** A word that is in so many records is never removed: to find them all takes long, and it is nobody's secret. */
const commonFrom = 1_000;

/** The table, without words. */
export function wordsTable({ words, trigrams }: SearchNames): string[] {
  return [
    `create table ${words} (word text collate "C" primary key, common boolean not null default false)`,
    `create index ${trigrams} on ${words} using gin (word ${extensions}.gin_trgm_ops) with (fastupdate = off)`,
  ];
}

/** Adds the words of the records that are there. */
export function collectWords({ table, column, words }: SearchNames): string {
  const vectors = quoteLiteral(`select ${column} from ${table}`);
  return `insert into ${words} (word) select word from ts_stat(${vectors}) where ${isWord}`;
}

/**
 * The function and the triggers that keep the table, statement by statement: they add a word with its first record, and remove
 * it with its last. Rows of known words are not locked, since all writers would wait for each other. So a word that one writer
 * removes while another adds it can be lost: it is then found as it is, and not by a similar one, until it is written again.
 */
export function wordsTriggers(names: SearchNames): string[] {
  return [wordsFunction('create', names), ...wordsEvents(names)];
}

/** The same, but no word is removed: to find out that no record has it takes the index, which is not there yet. */
export function addingTriggers(names: SearchNames): string[] {
  const { column, words } = names;
  const added = `array(${wordsOf('new_rows', column)})`;
  const body = `begin
      if tg_op = 'DELETE' then return null; end if;
      ${addWords(words, added)};
      return null;
    end`;
  const adding = `create function ${words}() returns trigger language plpgsql as ${quoteLiteral(body)}`;
  return [adding, ...wordsEvents(names)];
}

function wordsEvents({ table, column, words }: SearchNames): string[] {
  // Two searches of a table have triggers of different names.
  const suffix = column.slice('"_search'.length, -1);
  return (['insert', 'update', 'delete'] as const).map((event) => {
    const rows = [
      ...event === 'insert' ? [] : ['old table as old_rows'],
      ...event === 'delete' ? [] : ['new table as new_rows'],
    ];
    const name = quoteIdentifier(`_words${suffix}_${event}`);
    return `create trigger ${name} after ${event} on ${table} referencing ${rows.join(' ')} ` +
      `for each statement execute function ${words}()`;
  });
}

/** The function alone. */
export function wordsFunction(create: 'create' | 'create or replace', names: SearchNames): string {
  return `${create} function ${names.words}() returns trigger language plpgsql as ${
    quoteLiteral(wordsBody(names))
  }`;
}

/** Deletes the words that are in no record, in batches. */
export function removeStaleWords(names: SearchNames): BuildStep {
  const { words } = names;
  const those = (limit: string) => `select word from ${words} where word >= $1::text order by word ${limit}`;
  const text = `with those as (${those(`limit ${batchSize}`)}),
    gone as (
      delete from ${words} as w using those where w.word = those.word and not exists (${
    recordsWith(names, 'w.word')
  })
    ) select word as next from (${those(`offset ${batchSize} limit 1`)}) as following`;
  return { run: 'batches', text };
}

function recordsWith({ table, column }: SearchNames, word: string): string {
  return `select from ${table} where ${column} @@ ('''' || ${word} || '''')::tsquery`;
}

function wordsOf(rows: string, column: string): string {
  return `select word from ${rows}, unnest(tsvector_to_array(${column})) as word where ${isWord}`;
}

/** In order, so that two writers do not wait for each other. */
function addWords(words: string, added: string): string {
  return `insert into ${words} (word) select distinct word from unnest(${added}) as word order by word
        on conflict do nothing`;
}

function wordsBody(names: SearchNames): string {
  const { column, words } = names;
  const found = recordsWith(names, 'word');
  const [old, fresh] = ['old_rows', 'new_rows'].map((rows) => wordsOf(rows, column));
  return `declare
      added text[];
      removed text[];
    begin
      if tg_op = 'INSERT' then
        added := array(${fresh});
      elsif tg_op = 'UPDATE' then
        added := array(${fresh} except ${old});
        removed := array(${old} except ${fresh});
      else
        removed := array(${old});
      end if;
      ${addWords(words, 'added')};
      delete from ${words} where word = any (removed) and not common and not exists (${found});
      if random() < 0.001 then
        update ${words} set common = true where word = any (added) and not common
          and (select count(*) from (${found} limit ${commonFrom}) as those) = ${commonFrom};
      end if;
      return null;
    end`;
}
