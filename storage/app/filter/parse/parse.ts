// A filter's text as a tree: a recursive-descent parser with hard limits.
//
//   filter  = all { ("||" | "or") all }
//   all     = single { ("&&" | "and") single }
//   single  = ("!" | "not") single | "(" filter ")" | path "(" filter ")" | operand operator operand
//           | operand "in" "[" [ operand { "," operand } ] "]"
//
// Words are words, in any case, only where the grammar has a place for them, so that fields may be called the same:
// in `and = 1 and in in [2]` the first word of each comparison is a field. `true`, `false` and `null` always are literals,
// and `not` before anything but an operator is the word; backticks make them names.
import { hasCharacters } from '../../../sql/characters.ts';
import { FilterError, quoted } from './error.ts';
import { lex, type Sign, type Token } from './lex.ts';
import { operators } from '../operators/operators.ts';
import type { Expression, Literal, Operand, Operator, RequestPart } from './tree.ts';

const maxCharacters = 4_096;
const maxDepth = 32;
const maxComparisons = 128;

/** The tokens, and the position of the parser. */
interface Reader {
  readonly tokens: readonly Token[];
  readonly end: Token;
  next: number;
  depth: number;
  comparisons: number;
}

/** Parses a filter. Throws `FilterError`: `parse_error`, and `unknown_column` for a member that a principal lacks. */
export function parse(text: string): Expression {
  if (hasCharacters(text, maxCharacters + 1)) {
    throw new FilterError('parse_error', `more than ${maxCharacters} characters`, maxCharacters + 1);
  }
  const reader: Reader = { ...lex(text), next: 0, depth: 0, comparisons: 0 };
  const expression = readFilter(reader);
  const token = peek(reader);
  if (token.kind !== 'end') throw unexpected(token, 'an operator between two conditions');
  return expression;
}

function readFilter(reader: Reader): Expression {
  const first = readAll(reader);
  const parts = [first];
  while (takeSign(reader, '||') || takeWord(reader, 'or')) parts.push(readAll(reader));
  return parts.length === 1 ? first : { kind: 'or', parts };
}

function readAll(reader: Reader): Expression {
  const first = readSingle(reader);
  const parts = [first];
  while (takeSign(reader, '&&') || takeWord(reader, 'and')) parts.push(readSingle(reader));
  return parts.length === 1 ? first : { kind: 'and', parts };
}

function readSingle(reader: Reader): Expression {
  const token = peek(reader);
  if (takeSign(reader, '!') || (!isOperandNext(reader) && takeWord(reader, 'not'))) {
    return { kind: 'not', part: deeper(reader, token, readSingle) };
  }
  if (!takeSign(reader, '(')) return readComparison(reader);
  const inside = deeper(reader, token, readFilter);
  expectSign(reader, ')');
  return inside;
}

function deeper(reader: Reader, token: Token, read: (reader: Reader) => Expression): Expression {
  if (++reader.depth > maxDepth) {
    throw new FilterError('parse_error', `nested deeper than ${maxDepth}`, token.at);
  }
  const expression = read(reader);
  reader.depth--;
  return expression;
}

function readComparison(reader: Reader): Expression {
  const left = readOperand(reader);
  const token = peek(reader);
  if (left.kind === 'path' && takeSign(reader, '(')) {
    const part = deeper(reader, token, readFilter);
    expectSign(reader, ')');
    return { kind: 'some', path: left, part };
  }
  if (takeWord(reader, 'in')) return { kind: 'in', left, items: readItems(reader) };
  if (token.kind !== 'sign' || !isComparing(token.sign)) throw unexpected(token, 'an operator such as =');
  reader.next++;
  count(reader, token);
  return { kind: 'compare', operator: token.sign, left, right: readOperand(reader) };
}

function readItems(reader: Reader): Operand[] {
  const items: Operand[] = [];
  expectSign(reader, '[');
  while (!takeSign(reader, ']')) {
    if (items.length > 0) expectSign(reader, ',');
    count(reader, peek(reader));
    items.push(readOperand(reader));
  }
  // An empty list costs nothing to compare, but counts as a comparison all the same.
  if (items.length === 0) count(reader, peek(reader));
  return items;
}

function count(reader: Reader, token: Token): void {
  if (++reader.comparisons > maxComparisons) {
    throw new FilterError('parse_error', `more than ${maxComparisons} comparisons`, token.at);
  }
}

function readOperand(reader: Reader): Operand {
  const token = peek(reader);
  const { at } = token;
  reader.next++;
  switch (token.kind) {
    case 'text':
      return { kind: 'text', value: token.value, written: token.value, at };
    case 'number':
      return { kind: 'number', value: token.value, written: token.written, at };
    case 'outside':
      return readOutside(token.names, at);
    case 'path':
      return readLiteralWord(token) ?? { kind: 'path', from: 'row', names: token.names, at };
    case 'sign':
    case 'end':
      throw unexpected(token, 'a field or a value');
  }
}

function readLiteralWord(token: Token): Literal | { kind: 'null'; at: number } | undefined {
  const { at } = token;
  if (isWord(token, 'null')) return { kind: 'null', at };
  if (isWord(token, 'true')) return { kind: 'boolean', value: true, written: 'true', at };
  if (isWord(token, 'false')) return { kind: 'boolean', value: false, written: 'false', at };
  return undefined;
}

/** Members of the principal, which `api` fills as far as a kind of principal has them. */
const principalMembers: ReadonlySet<string> = new Set(['id', 'email', 'role', 'verified', 'created_at']);

function readOutside(names: readonly string[], at: number): Operand {
  const written = `@${names.join('.')}`;
  const [root, part, name, ...rest] = names;
  if (root === 'now' && part === undefined) return { kind: 'now', at };
  if ((root === 'record' || root === 'collection') && part !== undefined) {
    return { kind: 'path', from: root, names: names.slice(1), at };
  }
  if (root === 'request' && part === 'method' && name === undefined) {
    return { kind: 'request', part, name: '', path: [], at };
  }
  // The profile is followed by its collection and its field, which are resolved with the other names.
  const isProfile = part === 'auth' && name === 'profile' && rest.length > 1;
  if (root !== 'request' || !isNamedPart(part) || name === undefined || rest.length > 0 && !isProfile) {
    throw new FilterError('parse_error', `${quoted(written)} does not exist`, at);
  }
  if (part === 'auth' && !principalMembers.has(name) && !isProfile) {
    throw new FilterError('unknown_column', `unknown column ${quoted(written)}`, at);
  }
  return { kind: 'request', part, name, path: rest, at };
}

function isNamedPart(part: string | undefined): part is Exclude<RequestPart, 'method'> {
  return part === 'auth' || part === 'body' || part === 'query';
}

function isComparing(sign: Sign): sign is Operator {
  return Object.hasOwn(operators, sign);
}

/** True when the token after the next one is an operator, so that the next one is an operand. */
function isOperandNext(reader: Reader): boolean {
  const token = peek(reader, 1);
  if (token.kind === 'sign') return isComparing(token.sign);
  const following = peek(reader, 2);
  return isWord(token, 'in') && following.kind === 'sign' && following.sign === '[';
}

function peek(reader: Reader, ahead = 0): Token {
  return reader.tokens[reader.next + ahead] ?? reader.end;
}

function takeSign(reader: Reader, sign: Sign): boolean {
  const token = peek(reader);
  const found = token.kind === 'sign' && token.sign === sign;
  if (found) reader.next++;
  return found;
}

function expectSign(reader: Reader, sign: Sign): void {
  if (!takeSign(reader, sign)) throw unexpected(peek(reader), quoted(sign));
}

function takeWord(reader: Reader, word: string): boolean {
  const found = isWord(peek(reader), word);
  if (found) reader.next++;
  return found;
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'path' && !token.quoted && token.names.length === 1 &&
    token.names[0]?.toLowerCase() === word;
}

function unexpected(token: Token, expected: string): FilterError {
  return new FilterError('parse_error', `expected ${expected}, found ${describe(token)}`, token.at);
}

function describe(token: Token): string {
  switch (token.kind) {
    case 'sign':
      return quoted(token.sign);
    case 'path':
      return quoted(token.names.join('.'));
    case 'outside':
      return quoted(`@${token.names.join('.')}`);
    case 'text':
      return 'a text';
    case 'number':
      return 'a number';
    case 'end':
      return 'the end';
  }
}
