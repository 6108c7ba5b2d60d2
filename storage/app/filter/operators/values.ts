// Reads texts as values of the other types, and orders two values of one type.
import { textFault } from '../../../sql/characters.ts';
import { compareNumbers, type ExactNumber, exactNumber, isOutOfRange } from '../../../sql/exact-number.ts';
import { datetime } from '../../fields/datetime.ts';
import { isUuid } from '../../../sql/ids.ts';
import type { Scalar, ScalarType } from '../condition.ts';

const readInstant = datetime.reader({ name: 'literal', kind: 'datetime' });
const numberPattern = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** Reads a text as a value of a type; undefined when it is none. */
export const parseScalar: Record<ScalarType, (text: string) => Scalar | undefined> = {
  text: (text) => textFault(text) === undefined ? text : undefined,
  number: parseNumber,
  boolean: (text) => text === 'true' ? true : text === 'false' ? false : undefined,
  datetime: parseInstant,
  uuid: (text) => isUuid(text) ? text.toLowerCase() : undefined,
};

/** Reads a number, which may have zeros in front; undefined for other texts, and beyond the range of a double. */
export function parseNumber(text: string): number | ExactNumber | undefined {
  const isNumber = numberPattern.test(text) && !isOutOfRange(text);
  return isNumber ? exactNumber(text.replace(/^(-?)0+(?=\d)/, '$1')) : undefined;
}

/** Reads RFC 3339, also with a space for its `T`, and a day alone, which is its first moment in UTC. */
function parseInstant(text: string): number | undefined {
  const full = dayPattern.test(text) ? `${text}T00:00:00Z` : text.replace(/^(\S{10}) /, '$1T');
  const reading = readInstant(full);
  return 'value' in reading ? Date.parse(String(reading.value)) : undefined;
}

/** Compares two values of one type: negative, zero or positive. Texts are ordered by code point; NaN is unordered. */
export function compareScalars(left: Scalar, right: Scalar): number {
  if (left === right) return 0;
  if (typeof left === 'string' && typeof right === 'string') return orderTexts(left, right);
  if (typeof left === 'object' || typeof right === 'object') {
    return isNumber(left) && isNumber(right) ? compareNumbers(left, right) : NaN;
  }
  return left < right ? -1 : left > right ? 1 : NaN;
}

function isNumber(value: Scalar): value is number | ExactNumber {
  return typeof value === 'number' || typeof value === 'object';
}

/**
 * Surrogates (U+D800 to U+DFFF), which stand for code points above U+FFFF, have smaller units than U+E000 to U+FFFF. In
 * the order of code points they come later.
 */
function orderTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a !== b) return a >= 0xd800 && b >= 0xd800 ? raised(a) - raised(b) : a - b;
  }
  return left.length - right.length;
}

function raised(unit: number): number {
  return unit <= 0xdfff ? unit + 0x2800 : unit;
}
