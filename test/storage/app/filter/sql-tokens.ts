// What the SQL of a filter may be made of.
import { expect } from 'vitest';
import { collections } from './collections.ts';

const names = new Set([
  'id',
  'created_at',
  'updated_at',
  'verified',
  'email',
  'last_login',
  'workspace',
  'users_public',
  'filtered app',
  'C',
  'pg_c_utf8',
  't',
  'item',
  'r',
  ...Object.entries(collections).flatMap(([id, fields]) => [id, ...fields.map(({ name }) => name)]),
]);

/** The only texts: parts of patterns, and what JSON calls its types. */
const constants = new Set([
  "'!'",
  "'!!'",
  "'_'",
  "'!_'",
  "'!%'",
  "'%'",
  "''",
  "'ς'",
  "'σ'",
  "'{}'",
  "'null'",
  "'string'",
  "'number'",
  "'boolean'",
]);

const words = new Set(
  ('true false and or not is null exists select from where as case when then else end like escape collate ' +
    'text uuid boolean timestamptz double precision numeric coalesce jsonb_typeof jsonb_extract_path lower replace strpos ' +
    'char_length any array unnest cardinality')
    .split(' '),
);

const token =
  /"((?:[^"]|"")*)"|(E?'(?:[^'\\]|\\\\|'')*')|(\$\d+)|([a-z_]+)|(#>>|@>|::|\|\||<=|>=|[=<>(),.[\]]|0|256)|(\s+)|(.)/gs;

/** Fails when there is anything in a filter's SQL but known names, known words and its own parameters, each used. */
export function expectParametersOnly(text: string, params: readonly unknown[], first = 1): void {
  const used = new Set<number>();
  const strange: string[] = [];
  for (const [piece, name, constant, parameter, word, , , other] of text.matchAll(token)) {
    if (name !== undefined && !names.has(name) && !/^(?:related|item)_\d+$/.test(name)) strange.push(piece);
    if (constant !== undefined && !constants.has(constant) && constant !== "E'\\\\%'") strange.push(piece);
    if (word !== undefined && !words.has(word)) strange.push(piece);
    if (other !== undefined) strange.push(piece);
    if (parameter !== undefined) used.add(Number(parameter.slice(1)));
  }
  expect(strange, text).toEqual([]);
  expect([...used].sort((a, b) => a - b)).toEqual(params.map((_, index) => first + index));
}
