// Checks the shape of JSON before it is parsed. `JSON.parse` of 8 MiB of `[` blocks the event loop for a second, and nesting
// 100,000 deep can be stored as jsonb but breaks every list that contains it.
import { isUtf8 } from 'node:buffer';
import { isOutOfRange } from '../../../storage/sql/exact-number.ts';
import { fail } from '../../errors.ts';

const maxDepth = 64;
const maxTokens = 100_000;
/** Parsing megabytes of digits takes long. */
const maxDigits = 1_000;
/** A double holds any number of that length. */
const doubleDigits = 15;

/** The length of `false`. */
const maxWordLength = 5;

/** The bytes of a string that are read one by one, which is fastest for short ones, before a window is searched. */
const shortLength = 512;
/** Small enough that an escape after every few bytes does not make the search slow. */
const windowLength = 4_096;

const quote = 0x22;
const backslash = 0x5c;

/** The position of a scan, the string that it is in, and the keys of the objects that are open (null: an array). */
interface Scan {
  bytes: Buffer;
  at: number;
  /** Where a scan that was interrupted within a string goes on. */
  inside: { start: number; escaped: boolean } | undefined;
  tokens: number;
  open: (Set<string> | null)[];
  hasLongNumber: boolean;
}

/**
 * Checks the shape of a JSON text; its syntax is left to the parser. Returns true when it has numbers that a double may not
 * hold. Throws `400 validation` for nesting deeper than 64, more
 * than 100,000 tokens, NUL characters, lone surrogates, numbers that are not finite, `__proto__` and duplicate keys. Throws
 * `422 deserialization` for bytes that are not UTF-8 and for words longer than any of JSON.
 */
export function scanJson(bytes: Buffer): boolean {
  const steps = scanJsonInSteps(bytes, bytes.length);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same in steps of about so many bytes, between which the caller may do other work. */
export function* scanJsonInSteps(bytes: Buffer, stepBytes: number): Generator<void, boolean> {
  if (!isUtf8(bytes)) fail('deserialization', 'the body is not UTF-8');
  const scan: Scan = { bytes, at: 0, inside: undefined, tokens: 0, open: [], hasLongNumber: false };
  while (scan.at < bytes.length) {
    scanUntil(scan, Math.min(scan.at + stepBytes, bytes.length));
    if (scan.at < bytes.length) yield;
  }
  return scan.hasLongNumber;
}

function scanUntil(scan: Scan, end: number): void {
  const { bytes } = scan;
  while (scan.at < end) {
    const byte = bytes[scan.at] ?? 0;
    if (scan.inside !== undefined || byte === quote) scanString(scan, end);
    else if (byte === 0x7b || byte === 0x5b) enter(scan, byte === 0x7b);
    else if (byte === 0x7d || byte === 0x5d) {
      scan.open.pop();
      scan.at++;
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) scanNumber(scan);
    else scanOther(scan, byte);
  }
}

function count(scan: Scan): void {
  if (++scan.tokens > maxTokens) {
    fail('validation', `the body has more than ${maxTokens} values and keys`);
  }
}

function enter(scan: Scan, isObject: boolean): void {
  count(scan);
  if (scan.open.length >= maxDepth) fail('validation', `the body is nested deeper than ${maxDepth}`);
  scan.open.push(isObject ? new Set() : null);
  scan.at++;
}

/** Counts a literal as a token; white space and punctuation do not count. */
function scanOther(scan: Scan, byte: number): void {
  if (isLetter(byte)) {
    count(scan);
    const { bytes } = scan;
    const last = scan.at + maxWordLength;
    let at = scan.at + 1;
    while (isLetter(bytes[at] ?? 0)) {
      if (++at > last) {
        fail('deserialization', 'the body is not JSON: a word that is none of true, false, null');
      }
    }
    scan.at = at;
    return;
  }
  scan.at++;
}

function isLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

function scanNumber(scan: Scan): void {
  count(scan);
  const { bytes } = scan;
  const start = scan.at;
  let exponent = false;
  for (scan.at++; scan.at < bytes.length && scan.at - start <= maxDigits; scan.at++) {
    const byte = bytes[scan.at] ?? 0;
    if (byte === 0x65 || byte === 0x45) exponent = true;
    else if (!(byte >= 0x30 && byte <= 0x39) && byte !== 0x2e && byte !== 0x2d && byte !== 0x2b) break;
  }
  const length = scan.at - start;
  if (length > maxDigits) fail('validation', `a number has more than ${maxDigits} digits`);
  // A double overflows at 309 digits; without an exponent a shorter number cannot.
  if ((exponent || length > 300) && isOutOfRange(bytes.toString('latin1', start, scan.at))) {
    fail('validation', 'a number is not finite, or too close to zero');
  }
  scan.hasLongNumber ||= exponent || length > doubleDigits;
}

function scanString(scan: Scan, end: number): void {
  const { bytes, inside } = scan;
  if (inside === undefined) count(scan);
  const start = inside?.start ?? scan.at + 1;
  let escaped = inside?.escaped ?? false;
  let at = inside === undefined ? start : scan.at;
  for (; at < end && bytes[at] !== quote; at++) {
    if (bytes[at] === backslash) {
      escaped = true;
      at = endOfEscape(bytes, at);
    } else if ((at - start) % shortLength === shortLength - 1) at = endOfPlain(bytes, at);
  }
  if (at >= end && end < bytes.length) {
    scan.inside = { start, escaped };
    scan.at = at;
    return;
  }
  scan.inside = undefined;
  scan.at = at + 1;
  if (at < bytes.length && scan.open.at(-1) instanceof Set && isFollowedByColon(scan)) {
    noteKey(scan, start, at, escaped);
  }
}

/** The position of the last byte before the next quote or backslash, within one window: native search is ten times as fast. */
function endOfPlain(bytes: Buffer, at: number): number {
  const window = bytes.subarray(at, at + windowLength);
  const end = window.indexOf(quote);
  const plain = end === -1 ? window : window.subarray(0, end);
  const escape = plain.indexOf(backslash);
  return at + (escape === -1 ? plain.length : escape) - 1;
}

/** The position of the last byte of the escape that begins here. Only escapes can make a lone surrogate: raw bytes are UTF-8. */
function endOfEscape(bytes: Buffer, at: number): number {
  const unit = unicodeEscape(bytes, at);
  if (unit === undefined) return at + 1;
  if (unit === 0) fail('validation', 'the body contains a NUL character');
  if (unit < 0xd800 || unit > 0xdfff) return at + 5;
  const low = unit < 0xdc00 ? unicodeEscape(bytes, at + 6) : undefined;
  if (low === undefined || low < 0xdc00 || low > 0xdfff) {
    fail('validation', 'the body contains a lone surrogate');
  }
  return at + 11;
}

/** The UTF-16 unit of a `\uXXXX` at this position; undefined when there is none. */
function unicodeEscape(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] !== backslash || bytes[at + 1] !== 0x75) return undefined;
  let unit = 0;
  for (let digit = at + 2; digit < at + 6; digit++) {
    const value = hexValue(bytes[digit] ?? 0);
    if (value === -1) return undefined;
    unit = unit * 16 + value;
  }
  return unit;
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function isFollowedByColon(scan: Scan): boolean {
  const { bytes } = scan;
  let at = scan.at;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return bytes[at] === 0x3a;
}

function noteKey(scan: Scan, start: number, end: number, escaped: boolean): void {
  const raw = scan.bytes.toString('utf8', start, end);
  const key = escaped ? unescape(raw) : raw;
  const keys = scan.open.at(-1);
  if (key === '__proto__') fail('validation', '__proto__: unknown field');
  if (keys?.has(key) === true) fail('validation', `${key.slice(0, 100)}: is given twice`);
  keys?.add(key);
}

function unescape(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    // Not JSON. The parser refuses it, with the position.
    return raw;
  }
}
