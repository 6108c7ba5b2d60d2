// Splits a filter's text into tokens, each with its position.
import { countCharacters, textFault } from '../../../sql/characters.ts';
import type { ExactNumber } from '../../../sql/exact-number.ts';
import { parseNumber } from '../operators/values.ts';
import { FilterError, quoted } from './error.ts';
import type { Operator } from './tree.ts';

/** Signs of the language. Words (`and`, `in`, …) are names until the parser meets them where a word can stand. */
export type Sign = Operator | '&&' | '||' | '!' | '(' | ')' | '[' | ']' | ',';

/** One token; `at` is its position in characters, from 1. */
export type Token =
  | { kind: 'sign'; sign: Sign; at: number }
  /** A name with what follows its dots. `quoted`: in backticks, so never a word of the language. */
  | { kind: 'path'; names: readonly string[]; quoted: boolean; at: number }
  /** The names after an `@`, without it. */
  | { kind: 'outside'; names: readonly string[]; at: number }
  | { kind: 'text'; value: string; at: number }
  | { kind: 'number'; value: number | ExactNumber; written: string; at: number }
  | { kind: 'end'; at: number };

const tokenPattern = new RegExp(
  [
    /(?<blank>[ \t\r\n]+)/,
    /(?<sign>&&|\|\||!=|!~|>=|<=|[!=><~()[\],])/,
    /(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/,
    /(?<path>(?:[A-Za-z_]\w*|`[A-Za-z_]\w*`)(?:\.\w+)*)/,
    /(?<outside>@[A-Za-z_]\w*(?:\.\w+)*)/,
    /(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/,
    /(?<stray>.)/,
  ].map(({ source }) => source).join('|'),
  'gsu',
);

/** The tokens of a text, and the end after the last. Throws `FilterError` with `parse_error`. */
export function lex(text: string): { tokens: Token[]; end: Token } {
  const tokens: Token[] = [];
  let at = 1;
  for (const { 0: piece, groups } of text.matchAll(tokenPattern)) {
    if (groups?.['blank'] === undefined) tokens.push(read(piece, groups ?? {}, at));
    at += countCharacters(piece);
  }
  return { tokens, end: { kind: 'end', at } };
}

function read(piece: string, groups: Readonly<Record<string, string | undefined>>, at: number): Token {
  if (groups['sign'] !== undefined) return { kind: 'sign', sign: piece as Sign, at };
  if (groups['path'] !== undefined) {
    const quoted = piece.startsWith('`');
    return { kind: 'path', names: piece.replaceAll('`', '').split('.'), quoted, at };
  }
  if (groups['outside'] !== undefined) return { kind: 'outside', names: piece.slice(1).split('.'), at };
  if (groups['number'] !== undefined) return readNumber(piece, at);
  if (groups['text'] !== undefined) return { kind: 'text', value: unescape(piece.slice(1, -1), at), at };
  const isQuote = piece === "'" || piece === '"';
  throw new FilterError('parse_error', isQuote ? 'the text has no end' : `unexpected ${quoted(piece)}`, at);
}

function readNumber(written: string, at: number): Token {
  const value = parseNumber(written);
  if (value !== undefined) return { kind: 'number', value, written, at };
  throw new FilterError('parse_error', `${quoted(written)} is too large a number, or too close to zero`, at);
}

/** As in JSON, and the quotes. `\%` stays as it is: in a pattern it is a percent sign, written `\\%` or `\%`. */
const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['/', '/'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
  ['%', '\\%'],
]);

const escapePattern = /\\(?:u([0-9a-fA-F]{4})|(.))/gsu;

function unescape(inside: string, at: number): string {
  const value = inside.replaceAll(escapePattern, (escape, code: string | undefined, letter: string) => {
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
    const meaning = escapes.get(letter);
    if (meaning !== undefined) return meaning;
    throw new FilterError('parse_error', `${quoted(escape)} is no escape; a backslash is written twice`, at);
  });
  if (textFault(value) !== undefined) {
    throw new FilterError('parse_error', 'a text cannot hold a NUL or half a character', at);
  }
  return value;
}
