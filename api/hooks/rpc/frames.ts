// Frames on a runner's channel: u32 big-endian length, then one JSON object in UTF-8. What comes in was written by a tenant, so
// it is measured before it is parsed.
import { isUtf8 } from 'node:buffer';
import { hasLongNumber, parseExactJson, parseJson } from '../../../storage/sql/exact-json.ts';
import { fail } from '../../errors.ts';

const headBytes = 4;
/** A runner takes no longer one, and ends. */
const maxFrameBytes = 16_777_216;
const maxDepth = 64;
const maxTokens = 100_000;

/** Why a channel cannot be trusted any more. The message is for the app's log. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/** The JSON of a message. Throws `413 payload_too_large` for more than a runner takes. */
export function toFrameText(message: object): string {
  const text = JSON.stringify(message);
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 > maxFrameBytes && Buffer.byteLength(text) > maxFrameBytes) {
    fail(
      'payload_too_large',
      `what the app's hooks would be given has more than ${maxFrameBytes} bytes as JSON`,
    );
  }
  return text;
}

/**
 * Messages, each as its JSON, as bytes in a row. A space before one tells the runner, which is slow at looking for itself, that
 * numbers in it may not fit doubles.
 */
export function encodeFrames(messages: readonly string[]): Buffer {
  const texts = messages.map((text) => hasLongNumber(text) ? ` ${text}` : text);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const frames = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + headBytes + length, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const length = lengths[index] ?? 0;
    frames.writeUInt32BE(length, at);
    frames.write(text, at + headBytes, 'utf8');
    at += headBytes + length;
  }
  return frames;
}

/** Takes chunks as they come, and hands on whole messages with the bytes that each had. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Record<string, unknown>, bytes: number) => void;
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Of the frame at the beginning of what was gathered; undefined until its head is whole. */
  #frameBytes: number | undefined;

  /** `largest`: bytes that a frame's text may have. */
  constructor(largest: number, onMessage: (message: Record<string, unknown>, bytes: number) => void) {
    this.#maxBytes = largest;
    this.#onMessage = onMessage;
  }

  /** Throws `ProtocolError` at the first frame that is not as it must be; nothing may be pushed after that. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    // Joined only when a frame is whole: one that comes byte by byte costs what it has, not its square.
    if (this.#buffered < (this.#frameBytes ?? headBytes)) return;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#buffered);
    let at = 0;
    while (bytes.length - at >= headBytes) {
      const length = bytes.readUInt32BE(at);
      if (length === 0 || length > this.#maxBytes) throw new ProtocolError(`a frame of ${length} bytes`);
      this.#frameBytes = headBytes + length;
      if (bytes.length - at < this.#frameBytes) break;
      this.#onMessage(decode(bytes, at + headBytes, at + this.#frameBytes), length);
      at += this.#frameBytes;
      this.#frameBytes = undefined;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#buffered = bytes.length - at;
  }
}

/** The text of the bytes from `start` to `end`. */
function decode(bytes: Buffer, start: number, end: number): Record<string, unknown> {
  if (bytes[start] !== 0x7b) throw new ProtocolError('a frame that is no object');
  const text = bytes.toString('utf8', start, end);
  // Stands for what is not UTF-8, unless it was sent itself.
  if (text.includes('\ufffd') && !isUtf8(bytes.subarray(start, end))) {
    throw new ProtocolError('a frame that is not UTF-8');
  }
  const parse = checkSize(bytes, start, end) ? parseExactJson : parseJson;
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw new ProtocolError('a frame that is not JSON');
  }
  if (!isObject(value)) throw new ProtocolError('a frame that is no object');
  return value;
}

/** Counts what a parser would have to build, and how deep. Returns true when a number has an exponent. */
function checkSize(bytes: Buffer, start: number, end: number): boolean {
  let depth = 0;
  let tokens = 0;
  let hasExponent = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x22) {
      at = findStringEnd(bytes, at, end);
      tokens++;
    } else if (byte === 0x7b || byte === 0x5b) {
      tokens++;
      if (++depth > maxDepth) throw new ProtocolError(`a frame nested deeper than ${maxDepth}`);
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c || byte === 0x3a) tokens++;
    else if ((byte | 0x20) === 0x65 && isDigit(bytes[at - 1] ?? 0)) hasExponent = true;
  }
  // A number or a literal stands behind a comma, a colon or a bracket: those are counted in its place.
  if (tokens > 2 * maxTokens) throw new ProtocolError(`a frame of more than ${maxTokens} values`);
  return hasExponent;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function findStringEnd(bytes: Buffer, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at];
    if (byte === 0x5c) at++;
    else if (byte === 0x22) return at;
  }
  return end;
}

/** True when a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
