// The column with the words of a record's searched fields. A trigger computes it, so that it can be added to a large table
// without writing each record at once, as a generated column would.
import type { Field, SearchSetting } from '../../definition.ts';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.ts';
import type { SearchNames } from './names.ts';

/** What the column of words is computed of: the searched fields, in the order of their weights. */
export interface WordSource {
  fields: readonly Field[];
  search: SearchSetting;
}

/** Weights by the order of the fields: https://www.postgresql.org/docs/18/textsearch-controls.html */
const weights = ['A', 'B', 'C', 'D'];

/** The words of one record must fit a tsvector, which holds 1 MiB. Nothing is found beyond this many characters. */
const maxCharacters = 100_000;

/** The configuration as an SQL literal. */
export function configurationSql({ language }: SearchSetting): string {
  return `${quoteLiteral(`pg_catalog.${quoteIdentifier(language)}`)}::regconfig`;
}

/** The expression of the words; `row` is what the names of its columns begin with. */
export function wordsSql({ fields, search }: WordSource, row = ''): string {
  const length = Math.floor(maxCharacters / fields.length);
  return fields.map(({ name }, index) => {
    const text = `left(coalesce(${row}${quoteIdentifier(name)}, ''), ${length})`;
    const weight = weights[Math.min(index, weights.length - 1)];
    return `setweight(to_tsvector(${configurationSql(search)}, ${text}), '${weight}')`;
  }).join(' || ');
}

/** The function and the triggers that compute the column of words, which is there. */
export function vectorTriggers(names: SearchNames, source: WordSource): string[] {
  const fields = source.fields.map(({ name }) => quoteIdentifier(name)).join(', ');
  const each = `on ${names.table} for each row execute function ${names.vector}()`;
  return [
    vectorFunction('create', names, source),
    `create trigger ${triggerName(names, 'insert')} before insert ${each}`,
    `create trigger ${triggerName(names, 'update')} before update of ${fields} ${each}`,
  ];
}

/** The function alone, as its fields are named now. */
export function vectorFunction(
  create: 'create' | 'create or replace',
  { column, vector }: SearchNames,
  source: WordSource,
): string {
  const body = `begin new.${column} := ${wordsSql(source, 'new.')}; return new; end`;
  return `${create} function ${vector}() returns trigger language plpgsql as ${quoteLiteral(body)}`;
}

/** Two searches of a table have triggers of different names. */
function triggerName({ column }: SearchNames, event: 'insert' | 'update'): string {
  return column.replace(/"$/, `_${event}"`);
}
