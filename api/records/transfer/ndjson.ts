// The lines of an NDJSON file, as it arrives: JSON objects, one a line.
import { parseExactJson } from '../../../storage/sql/exact-json.ts';
import { ApiError, fail } from '../../errors.ts';
import { scanJson } from '../../http/protection/json-shape.ts';
import { lineError } from './line-errors.ts';

/** A line of a file. */
export interface JsonLine {
  /** Its number, from 1. */
  line: number;
  bytes: Buffer;
}

const lineFeed = 0x0a;

/** Reads lines, without those that are empty. Throws `400 validation` for a line of more than `maxBytes`. */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<JsonLine> {
  let line = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer) => {
    length += piece.length;
    if (length > maxBytes) throw lineError(line, 'is too long');
    pieces.push(piece);
  };
  const take = () => {
    const whole = Buffer.concat(pieces);
    pieces = [];
    length = 0;
    return whole;
  };
  for await (const chunk of bytes) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = buffer.indexOf(lineFeed); end !== -1; end = buffer.indexOf(lineFeed, start)) {
      keep(buffer.subarray(start, end));
      const whole = take();
      if (!isBlank(whole)) yield { line, bytes: whole };
      line++;
      start = end + 1;
    }
    if (start < buffer.length) keep(buffer.subarray(start));
  }
  const rest = take();
  if (!isBlank(rest)) yield { line, bytes: rest };
}

/** True of spaces, tabs and carriage returns. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** The object of a line. Throws `400 validation`. */
export function objectOfLine(bytes: Buffer): Record<string, unknown> {
  const value = jsonOf(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) {
    fail('validation', 'must be a JSON object');
  }
  return { ...value };
}

/** A JSON value whose numbers are exact. Throws `400 validation`. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    const isLong = scanJson(bytes);
    const text = bytes.toString();
    return isLong ? parseExactJson(text) : JSON.parse(text);
  } catch (error) {
    throw new ApiError('validation', error instanceof ApiError ? error.message : 'is not JSON');
  }
}
