// Numbers with more digits than a double has: an integer beyond 2^53, or a long decimal. JavaScript would round them.

/** A number that a double cannot hold, as its text. `JSON.stringify` writes it as it is. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** What a value of JSON was parsed from; `source` is there for numbers, texts and truth values. */
export interface ParsedFrom {
  readonly source?: string;
}

declare global {
  // Features of the engine that TypeScript's libraries do not declare yet.
  interface JSON {
    rawJSON(text: string): ExactNumber;
    isRawJSON(value: unknown): value is ExactNumber;
    parse(text: string, reviver: (name: string, value: unknown, from: ParsedFrom) => unknown): unknown;
  }
}

/** The number of a JSON text: as a `number` if JavaScript would write that with the same value, else as its text. */
export function exactNumber(text: string): number | ExactNumber {
  return isExact(text) ? Number(text) : JSON.rawJSON(text);
}

/** True when JavaScript writes a number of JSON with the same value. */
function isExact(text: string): boolean {
  const value = Number(text);
  const written = String(value);
  if (written === text) return true;
  if (value !== 0 && isUnique(text) && isUnique(written)) return false;
  return compareTexts(written, text) === 0;
}

/** True when no other text of that form is the same number. To look at the digits takes ten times as long. */
function isUnique(text: string): boolean {
  return !text.includes('e') && !text.includes('E') && !(text.includes('.') && text.endsWith('0'));
}

/** True when a double can neither hold a number nor round it: it is too large, or would become zero. */
export function isOutOfRange(text: string): boolean {
  const value = Number(text);
  return !Number.isFinite(value) || (value === 0 && /^-?[0.]*[1-9]/.test(text));
}

/** The nearest double. */
export function toDouble(value: number | ExactNumber): number {
  return typeof value === 'number' ? value : Number(value.rawJSON);
}

/**
 * The path to the first number that is exact in one value of JSON and rounded to a double in the other, as after
 * `JSON.parse(JSON.stringify(value))`; undefined when there is none.
 */
export function findRounded(exact: unknown, other: unknown, path = ''): string | undefined {
  if (JSON.isRawJSON(exact)) return other === Number(exact.rawJSON) ? path : undefined;
  if (!isContainer(exact) || !isContainer(other)) return undefined;
  // The text of a `json` field that is not parsed yet (`JsonText`).
  const { toJSON } = exact as { toJSON?: unknown };
  if (typeof toJSON === 'function') return findRounded(toJSON.call(exact), other, path);
  for (const [name, value] of Object.entries(exact)) {
    const found = findRounded(value, Reflect.get(other, name), path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Compares two numbers by all of their digits: negative, zero or positive; NaN is unordered. */
export function compareNumbers(left: number | ExactNumber, right: number | ExactNumber): number {
  return compareTexts(textOf(left), textOf(right));
}

function textOf(value: number | ExactNumber): string {
  return typeof value === 'number' ? String(value) : value.rawJSON;
}

function compareTexts(left: string, right: string): number {
  const [one, other] = [readDecimal(left), readDecimal(right)];
  if (one === undefined || other === undefined) return NaN;
  if (one.sign !== other.sign) return one.sign - other.sign;
  const larger = one.exponent - other.exponent || orderDigits(one.digits, other.digits);
  return one.sign * larger;
}

/** Orders digits after a point: a missing one is smaller than any. */
function orderDigits(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The number `sign * 0.digits * 10^exponent`. The first and the last digit are not zero; zero has none. */
interface Decimal {
  sign: number;
  digits: string;
  exponent: number;
}

const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

function readDecimal(text: string): Decimal | undefined {
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const [, minus, whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (start < end && all[start] === '0') start++;
  while (start < end && all[end - 1] === '0') end--;
  if (start === end) return { sign: 0, digits: '', exponent: 0 };
  const sign = minus === '' ? 1 : -1;
  return { sign, digits: all.slice(start, end), exponent: whole.length - start + Number(exponent) };
}
