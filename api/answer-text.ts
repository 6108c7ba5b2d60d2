// The text of an answer, which is JSON but for the few that say otherwise.
import { fail } from './errors.ts';

/** To put more together takes some milliseconds; a page can have two hundred times as much. */
const longLength = 1_048_576;

/** Whether the items of a page are long together: JSON, a tenth of a second and more of it, is made without a pause. */
export function isLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('items' in value)) return false;
  return leftAfter(value.items, longLength) < 0;
}

/** What is left of a length after a value, roughly; looks no further once nothing is. */
function leftAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  if (typeof value !== 'object' || value === null) return length - 1;
  let left = length;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    left = leftAfter(item, left);
    if (left < 0) return left;
  }
  return left;
}

/**
 * The text of an answer's value. Throws `400 validation` for more than one text can hold (half a gigabyte, V8's limit): a
 * page of many large records.
 */
export function answerText(value: unknown, contentType = 'application/json'): string {
  if (typeof value === 'string' && !contentType.includes('json')) return value;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    fail(
      'validation',
      'the answer would be too large; ask for fewer at once with per_page, or for less with fields',
    );
  }
}
