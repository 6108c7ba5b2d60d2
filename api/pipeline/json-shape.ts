// A scan of JSON bytes before they are parsed: JSON.parse of 8 MiB of `[` blocks the event loop for a second, and
// depth 100,000 stores fine in jsonb and then breaks every list that contains it.
import { isUtf8 } from 'node:buffer';
import { fail } from '../errors.ts';

const maximalDepth = 64;
const maximalTokens = 100_000;

const quote = 0x22;
const backslash = 0x5c;

/** How far the scan has come, and the keys of the objects that are open (null: an array). */
interface Scan {
  bytes: Buffer;
  at: number;
  tokens: number;
  open: (Set<string> | null)[];
}

/**
 * Refuses, with `400 validation`, nesting deeper than 64, more than 100,000 tokens, NUL characters, lone surrogates,
 * numbers that are not finite, `__proto__` and duplicate keys; with `422`, bytes that are not UTF-8.
 * Syntax is left to the parser.
 */
export function scanJson(bytes: Buffer): void {
  if (!isUtf8(bytes)) fail('deserialization', 'the body is not UTF-8');
  const scan: Scan = { bytes, at: 0, tokens: 0, open: [] };
  while (scan.at < bytes.length) {
    const byte = bytes[scan.at] ?? 0;
    if (byte === quote) scanString(scan);
    else if (byte === 0x7b || byte === 0x5b) enter(scan, byte === 0x7b);
    else if (byte === 0x7d || byte === 0x5d) {
      scan.open.pop();
      scan.at++;
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) scanNumber(scan);
    else scanOther(scan, byte);
  }
}

function count(scan: Scan): void {
  if (++scan.tokens > maximalTokens) {
    fail('validation', `the body has more than ${maximalTokens} values and keys`);
  }
}

function enter(scan: Scan, isObject: boolean): void {
  count(scan);
  if (scan.open.length >= maximalDepth) fail('validation', `the body is nested deeper than ${maximalDepth}`);
  scan.open.push(isObject ? new Set() : null);
  scan.at++;
}

/** Literals count as tokens; white space and punctuation do not. */
function scanOther(scan: Scan, byte: number): void {
  if (byte >= 0x61 && byte <= 0x7a) {
    count(scan);
    while (isLetter(scan.bytes[++scan.at] ?? 0));
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
  for (scan.at++; scan.at < bytes.length; scan.at++) {
    const byte = bytes[scan.at] ?? 0;
    if (byte === 0x65 || byte === 0x45) exponent = true;
    else if (!(byte >= 0x30 && byte <= 0x39) && byte !== 0x2e && byte !== 0x2d && byte !== 0x2b) break;
  }
  const length = scan.at - start;
  // A double overflows at 309 digits; without an exponent a shorter number cannot.
  if ((exponent || length > 300) && Math.abs(Number(bytes.toString('latin1', start, scan.at))) === Infinity) {
    fail('validation', 'a number is not finite');
  }
}

function scanString(scan: Scan): void {
  count(scan);
  const { bytes } = scan;
  const start = scan.at + 1;
  let end = bytes.indexOf(quote, start);
  while (end !== -1 && isEscaped(bytes, start, end)) end = bytes.indexOf(quote, end + 1);
  if (end === -1) {
    scan.at = bytes.length;
    return;
  }
  scan.at = end + 1;
  const escape = bytes.indexOf(backslash, start);
  const escaped = escape !== -1 && escape < end;
  if (escaped) refuseBadEscapes(bytes.toString('latin1', escape, end));
  if (scan.open.at(-1) instanceof Set && isFollowedByColon(scan)) noteKey(scan, start, end, escaped);
}

function isEscaped(bytes: Buffer, start: number, at: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === backslash) first--;
  return (at - first) % 2 === 1;
}

const escapePattern = /\\(?:u([0-9a-fA-F]{4})|[^u])/g;

/** Looks at `\uXXXX` escapes; raw bytes cannot hold a lone surrogate, since they are UTF-8. */
function refuseBadEscapes(text: string): void {
  let high = -1;
  for (const match of text.matchAll(escapePattern)) {
    const unit = match[1] === undefined ? -1 : parseInt(match[1], 16);
    if (unit === 0) fail('validation', 'the body contains a NUL character');
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (high !== -1 && !(isLow && match.index === high)) break;
    if (high === -1 && isLow) {
      high = 0;
      break;
    }
    high = unit >= 0xd800 && unit <= 0xdbff ? match.index + 6 : -1;
  }
  if (high !== -1) fail('validation', 'the body contains a lone surrogate');
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
    // Not JSON: the parser says so with a position.
    return raw;
  }
}
