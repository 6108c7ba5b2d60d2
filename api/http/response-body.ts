// The text of an answer, which is JSON but for the few that say otherwise.
import { constants } from 'node:buffer';
import { textLength, toJson } from '../../storage/sql/json-text.ts';
import { fail } from '../errors.ts';
import type { WaitForTurn } from './protection/large-body-queue.ts';

/** The whole text, or the bytes of its pieces. */
export type ResponseBody = string | readonly Buffer[];

/** How a long text is made. */
interface Making {
  turn: WaitForTurn;
  /** What an answer may have: as much as one text can hold, half a gigabyte. */
  most?: number;
}

/** To put as much together takes some milliseconds; a page can have a hundred times as much. */
const longLength = 1_048_576;

/**
 * The text of an answer's value; of a long one piece by piece, with a turn for each. Throws `400 validation` for too much:
 * a page of many large records.
 */
export function renderBody(
  value: unknown,
  making: Making & { contentType?: string | undefined },
): ResponseBody | Promise<ResponseBody> {
  if (typeof value === 'string' && making.contentType?.includes('json') === false) return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const length = textLength(value, longLength);
  return length.all > longLength ? longBody(value, making) : toJson(value, length);
}

/** How long the text of an answer is. */
export function bodyLength(body: ResponseBody | null): number {
  if (body === null) return 0;
  return typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

async function longBody(
  value: object,
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
function* partsOf(value: object): Generator<string> {
  if (!('items' in value) || !Array.isArray(value.items)) {
    yield toJson(value);
    return;
  }
  const { items, ...rest } = value;
  yield '{"items":[';
  let isFirst = true;
  for (const item of items) {
    yield isFirst ? toJson(item) : `,${toJson(item)}`;
    isFirst = false;
  }
  yield Object.keys(rest).length === 0 ? ']}' : `],${toJson(rest).slice(1)}`;
}
