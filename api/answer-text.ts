// The text of an answer, which is JSON but for the few that say otherwise.
import { constants } from 'node:buffer';
import { jsonOf } from '../storage/json-text.ts';
import { fail } from './errors.ts';
import type { LargeTurn } from './large-turns.ts';

/** The whole text, or the bytes of its pieces. */
export type AnswerBody = string | readonly Buffer[];

/** How a long text is made. */
interface Making {
  turn: LargeTurn;
  /** What an answer may have: as much as one text can hold, half a gigabyte. */
  most?: number;
}

/** To put as much together takes some milliseconds; a page can have a hundred times as much. */
const longLength = 1_048_576;

/**
 * The text of an answer's value; of a long one piece by piece, with a turn for each. Throws `400 validation` for too much:
 * a page of many large records.
 */
export function answerBody(
  value: unknown,
  { contentType = 'application/json', ...making }: Making & { contentType?: string | undefined },
): AnswerBody | Promise<AnswerBody> {
  if (typeof value === 'string' && !contentType.includes('json')) return value;
  return isLong(value) ? longBody(value, making) : jsonOf(value);
}

/** How long the text of an answer is. */
export function bytesIn(body: AnswerBody | null): number {
  if (body === null) return 0;
  return typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Whether the text of a value is long: to make JSON of it would hold up everybody. */
function isLong(value: unknown): boolean {
  return leftAfter(value, longLength) < 0;
}

/** What is left of a length after a value, roughly; looks no further once nothing is. */
function leftAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  let left = length - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    left = leftAfter(item, left);
    if (left < 0) return left;
  }
  return left;
}

async function longBody(
  value: unknown,
  { turn, most = constants.MAX_STRING_LENGTH }: Making,
): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let total = 0;
  let text = '';
  const flush = () => {
    total += text.length;
    if (total > most) failTooLarge();
    // Node would make room for three times as many bytes as a long text has characters.
    pieces.push(Buffer.from(text));
    text = '';
  };
  await turn();
  try {
    for (const part of partsOf(value)) {
      if (text.length > 0 && text.length + part.length > longLength) {
        flush();
        await turn();
      }
      text += part;
    }
    flush();
    return pieces;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    failTooLarge();
  }
}

function failTooLarge(): never {
  fail(
    'validation',
    'the answer would be too large; ask for fewer at once with per_page, or for less with fields',
  );
}

/** The text of a value; of a page item by item. */
function* partsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || !('items' in value) || !Array.isArray(value.items)) {
    yield jsonOf(value);
    return;
  }
  const { items, ...rest } = value;
  yield '{"items":[';
  let isFirst = true;
  for (const item of items) {
    yield isFirst ? jsonOf(item) : `,${jsonOf(item)}`;
    isFirst = false;
  }
  yield Object.keys(rest).length === 0 ? ']}' : `],${jsonOf(rest).slice(1)}`;
}
