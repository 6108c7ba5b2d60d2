// Values of an author's on their way into a frame: what JSON cannot say, or the API would not take, is refused here.
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

/** What the JSON of a value depends on besides. */
interface TextOptions {
  /** What is still this text came from the API and does not go back: it is not held to what may be sent. */
  readonly known?: string | undefined;
  /** As that of `JSON.stringify`. */
  readonly replace?: (name: string, member: unknown) => unknown;
}

/** What a value is that JSON would say null for, which clears a field, or leave out; undefined for all others. */
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
 * The JSON of a value.
 *
 * @throws TypeError or RangeError that says `what` cannot be sent, and why
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
  // A text this short cannot be too deep, and most values are no longer.
  if (text.length > maxDepth && text !== known) checkShape(text, what);
  return text;
}

/** Refuses a text that the API would refuse before reading it, for which it ends the whole process. */
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
