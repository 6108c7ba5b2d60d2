// Parses JSON without rounding its numbers.
import { exactNumber, type ParsedFrom } from './exact-number.ts';

/** Every number of at most 15 digits comes back from a double as it was. */
const suspiciousLength = 16;

/** Parses JSON as `JSON.parse` does, but for numbers that a double cannot hold: they become an `ExactNumber`. */
export function parseJson(text: string): unknown {
  return hasLongNumber(text) ? parseExactJson(text) : JSON.parse(text);
}

/**
 * The same for any text: `parseJson` overlooks numbers of few digits with an exponent beyond 300, which neither PostgreSQL
 * nor `JSON.stringify` writes. With a function, `JSON.parse` takes several times as long.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

function keepDigits(_name: string, value: unknown, { source }: ParsedFrom): unknown {
  return typeof value === 'number' && source !== undefined ? exactNumber(source) : value;
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
