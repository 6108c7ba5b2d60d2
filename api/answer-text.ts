// The JSON of an answer.
import { fail } from './errors.ts';

/**
 * The text of an answer's value. Throws `400 validation` for more than one text can hold (half a gigabyte, V8's limit): a
 * page of many large records.
 */
export function answerText(value: unknown): string {
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
