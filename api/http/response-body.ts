// Renders the bodies of responses: JSON, except on the few routes that have another media type.
import { constants } from 'node:buffer';
import { textLength, toJson } from '../../storage/sql/json-text.ts';
import { fail } from '../errors.ts';
import type { WaitForTurn } from './protection/large-body-queue.ts';

/** A whole text, or the bytes of its parts. */
export type ResponseBody = string | readonly Buffer[];

interface LongBodyOptions {
  /** Awaited before each part of a long body. */
  waitForTurn: WaitForTurn;
  /** The longest body in characters: what one text can hold, half a gigabyte. */
  maxLength?: number;
}

/** The length of one part in characters. It takes some milliseconds to render; a page can be a hundred times as long. */
const partLength = 1_048_576;

/**
 * Renders the body of a value; a long one in parts, each in its turn. Throws `400 validation` when it is too long, as a page
 * of many large records may be.
 */
export function renderBody(
  value: unknown,
  options: LongBodyOptions & { contentType?: string | undefined },
): ResponseBody | Promise<ResponseBody> {
  if (typeof value === 'string' && options.contentType?.includes('json') === false) return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const length = textLength(value, partLength);
  return length.all > partLength ? renderLongBody(value, options) : toJson(value, length);
}

/** The length of a body in bytes. */
export function bodyLength(body: ResponseBody | null): number {
  if (body === null) return 0;
  return typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

async function renderLongBody(
  value: object,
  { waitForTurn, maxLength = constants.MAX_STRING_LENGTH }: LongBodyOptions,
): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  let total = 0;
  let text = '';
  const flush = () => {
    total += text.length;
    if (total > maxLength) failTooLarge();
    // Bytes: for a long text Node would allocate three bytes for each character.
    parts.push(Buffer.from(text));
    text = '';
  };
  await waitForTurn();
  try {
    for (const piece of jsonPieces(value)) {
      if (text.length > 0 && text.length + piece.length > partLength) {
        flush();
        await waitForTurn();
      }
      text += piece;
    }
    flush();
    return parts;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    failTooLarge();
  }
}

function failTooLarge(): never {
  fail(
    'validation',
    'the response would be too large; ask for fewer at once with per_page, or for less with fields',
  );
}

/** The JSON of a value; of a page item by item. */
function* jsonPieces(value: object): Generator<string> {
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
