// Parses JSON without rounding its numbers.
import { isExact } from './exact-number.ts';

/** Every number of at most 15 digits comes back from a double as it was. */
const suspiciousLength = 16;

/** Parses JSON as `JSON.parse` does, but for numbers that a double cannot hold: they become an `ExactNumber`. */
export function parseJson(text: string): unknown {
  return hasLongNumber(text) ? parseExactJson(text) : JSON.parse(text);
}

/**
 * The same for any text: `parseJson` overlooks numbers of few digits with an exponent beyond 300, which neither PostgreSQL
 * nor `JSON.stringify` writes. `JSON.parse` with a function would take four times as long.
 */
export function parseExactJson(text: string): unknown {
  return unmark(JSON.parse(markNumbers(text)));
}

/** True when digits and points follow each other for so long that they may be such a number, also inside a string. */
export function hasLongNumber(text: string): boolean {
  // Of so many characters in a row, one has a position that is tested.
  for (let at = suspiciousLength - 1; at < text.length; at += suspiciousLength) {
    if (!isDigitOrPoint(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (at - start < suspiciousLength && isDigitOrPoint(text, start - 1)) start--;
    while (end - start < suspiciousLength && isDigitOrPoint(text, end)) end++;
    if (end - start >= suspiciousLength) return true;
  }
  return false;
}

function isDigitOrPoint(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e;
}

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;

// A NUL begins what was marked: `n` follows before a number, `s` before a string that had a NUL there itself.
const nul = '\\u0000';

/** Turns each number that a double cannot hold into a marked string. What is no JSON stays so. */
function markNumbers(text: string): string {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at);
    const isString = unit === quote;
    if (!isString && unit !== minus && !isDigitOrPoint(text, at)) {
      at++;
      continue;
    }
    const end = isString ? endOfString(text, at) : endOfNumber(text, at);
    const mark = isString ? markOfString(text, at) : markOfNumber(text.slice(at, end));
    if (mark !== undefined && !isFollowedByColon(text, end)) {
      marked += text.slice(copied, at) + mark + (isString ? '' : '"');
      copied = isString ? at + 1 : end;
    }
    at = end;
  }
  return marked + text.slice(copied);
}

/** The start of a string that has to be told from a marked number. */
function markOfString(text: string, start: number): string | undefined {
  return text.startsWith(nul, start + 1) ? `"${nul}s` : undefined;
}

/** All but the closing quote of the string that a number becomes. */
function markOfNumber(token: string): string | undefined {
  return isExact(token) ? undefined : `"${nul}n${token}`;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === backslash) at++;
    else if (unit === quote) return at + 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isInNumber(text, end)) end++;
  return end;
}

/** True for a digit and for `.`, `-`, `+`, `e` and `E`. */
function isInNumber(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return isDigitOrPoint(text, at) || unit === minus || unit === 0x2b || (unit | 0x20) === 0x65;
}

/** True when what ends here is a key, which cannot be a number. */
function isFollowedByColon(text: string, end: number): boolean {
  let at = end;
  while (' \n\r\t'.includes(text.charAt(at)) && at < text.length) at++;
  return text[at] === ':';
}

function unmark(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith('\0')) return value;
    return value[1] === 'n' ? JSON.rawJSON(value.slice(2)) : value.slice(2);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (isMarkable(value[index])) value[index] = unmark(value[index]);
    }
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) if (isMarkable(item)) value[name] = unmark(item);
  }
  return value;
}

function isMarkable(value: unknown): boolean {
  return typeof value === 'object' || (typeof value === 'string' && value.startsWith('\0'));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
