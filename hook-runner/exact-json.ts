// Parses JSON without rounding its numbers: those that a double cannot hold become objects, as `JSON.rawJSON` makes them.
import { parseJson, rawJson, reviveJson, toText } from './untampered.ts';

/** Every number of at most 15 digits comes back from a double as it was. */
const suspiciousLength = 16;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** Parses JSON. Throws `SyntaxError`. */
export function parseExactJson(text: string): unknown {
  return hasLongNumber(text) ? parseWithDigits(text) : parseJson(text);
}

/** The same, which is slower for JSON without long numbers. */
export function parseWithDigits(text: string): unknown {
  return reviveJson(text, keepDigits);
}

/** True when digits and points follow each other for so long that they may be such a number, also inside a string. */
function hasLongNumber(text: string): boolean {
  // Of so many characters in a row, one has a position that is tested.
  for (let at = suspiciousLength - 1; at < text.length; at += suspiciousLength) {
    if (!isDigitOrPoint(text, at)) continue;
    let start = at;
    let end = at + 1;
    while (at - start < suspiciousLength && isDigitOrPoint(text, start - 1)) start--;
    while (end - start < suspiciousLength && isDigitOrPoint(text, end)) end++;
    if (end - start >= suspiciousLength) return true;
  }
  return false;
}

function isDigitOrPoint(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit >= zero && unit <= nine) || unit === point;
}

function keepDigits(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const written = toText(value);
  return written === source || significantDigits(written) === significantDigits(source)
    ? value
    : rawJson(source);
}

/** The digits of a number from the first to the last that is not zero. */
function significantDigits(text: string): string {
  let digits = '';
  let zeros = '';
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const digit = text[index] ?? '';
    if (digit === 'e' || digit === 'E') break;
    if (unit === zero) zeros += digits === '' ? '' : digit;
    else if (unit > zero && unit <= nine) {
      digits += zeros + digit;
      zeros = '';
    }
  }
  return digits;
}
