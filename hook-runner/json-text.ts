// Serializes an author's values for a frame, and refuses those that JSON cannot represent or the API would reject.
import { stringifyJson } from './untampered.ts';

const maxDepth = 60;
const maxTokens = 90_000;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** Options of the serialization. */
interface TextOptions {
  /** The text that the value had when it came from the API. An unchanged value is not sent back, so it is not checked. */
  readonly known?: string | undefined;
  /** The replacer of `JSON.stringify`. */
  readonly replace?: (name: string, member: unknown) => unknown;
}

/** Describes a value that JSON would leave out or replace by null, which clears a field; undefined for all other values. */
export function describeUnserializable(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value}`;
  if (typeof value === 'object') {
    return value instanceof Date && Number.isNaN(value.getTime()) ? 'an invalid Date' : undefined;
  }
  return typeof value === 'function' || typeof value === 'symbol' || value === undefined
    ? `a ${typeof value}`
    : undefined;
}

/**
 * Serializes a value as JSON. `what` names it in errors.
 *
 * @throws TypeError when JSON cannot represent it; RangeError when it is too deep or has too many parts
 */
export function serializeJson(value: unknown, what: string, { known, replace }: TextOptions = {}): string {
  const unsaid = describeUnserializable(value);
  if (unsaid !== undefined) throw new TypeError(`${what} is ${unsaid}, which JSON cannot say`);
  let text: string | undefined;
  try {
    text = stringifyJson(value, replace);
  } catch (error) {
    throw new TypeError(
      `${what} cannot be written as JSON: ${error instanceof Error ? error.message : 'it threw'}`,
    );
  }
  if (text === undefined) throw new TypeError(`${what} is nothing that JSON can say`);
  // Most values are so short that they cannot be too deep.
  if (text.length > maxDepth && text !== known) checkShape(text, what);
  return text;
}

/** Throws `RangeError` for a text that the API would reject before parsing it, and kill the process for. */
function checkShape(text: string, what: string): void {
  let depth = 0;
  let tokens = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) index = skipString(text, index);
    else if (unit === openBrace || unit === openBracket) {
      depth++;
      tokens++;
      if (depth > maxDepth) throw new RangeError(`${what} is nested deeper than ${maxDepth} levels`);
    } else if (unit === closeBrace || unit === closeBracket) depth--;
    else if (unit === comma || unit === colon) tokens++;
  }
  if (tokens > maxTokens) throw new RangeError(`${what} has more than ${maxTokens} parts`);
}

function skipString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === backslash) index++;
    else if (unit === quote) return index;
  }
  return text.length;
}
