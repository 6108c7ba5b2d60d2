// Frames on a runner's channel: u32 big-endian length, then one JSON object in UTF-8. What comes in was written by a tenant, so
// it is measured before it is parsed.
import { isUtf8 } from 'node:buffer';

const headBytes = 4;
const maximalDepth = 64;
const maximalTokens = 100_000;

/** Why a channel cannot be trusted any more. The message is for the app's log. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/** One message as bytes, ready to be sent. */
export function encodeFrame(message: object): Buffer {
  return encodeFrames([JSON.stringify(message)]);
}

/** Messages, each as its JSON, as bytes in a row. */
export function encodeFrames(texts: readonly string[]): Buffer {
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
  readonly #largest: number;
  readonly #onMessage: (message: Record<string, unknown>, bytes: number) => void;
  #pieces: Buffer[] = [];
  #gathered = 0;
  /** Of the frame at the beginning of what was gathered; undefined until its head is whole. */
  #wanted: number | undefined;

  /** `largest`: bytes that a frame's text may have. */
  constructor(largest: number, onMessage: (message: Record<string, unknown>, bytes: number) => void) {
    this.#largest = largest;
    this.#onMessage = onMessage;
  }

  /** Throws `ProtocolError` at the first frame that is not as it must be; nothing may be pushed after that. */
  push(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#gathered += chunk.length;
    // Joined only when a frame is whole: one that comes byte by byte costs what it has, not its square.
    if (this.#gathered < (this.#wanted ?? headBytes)) return;
    let rest = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces, this.#gathered);
    while (rest.length >= headBytes) {
      const length = rest.readUInt32BE(0);
      if (length === 0 || length > this.#largest) throw new ProtocolError(`a frame of ${length} bytes`);
      this.#wanted = headBytes + length;
      if (rest.length < this.#wanted) break;
      this.#onMessage(decode(rest.subarray(headBytes, this.#wanted)), length);
      rest = rest.subarray(this.#wanted);
      this.#wanted = undefined;
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#gathered = rest.length;
  }
}

function decode(text: Buffer): Record<string, unknown> {
  if (text[0] !== 0x7b) throw new ProtocolError('a frame that is no object');
  if (!isUtf8(text)) throw new ProtocolError('a frame that is not UTF-8');
  measure(text);
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    throw new ProtocolError('a frame that is not JSON');
  }
  if (!isObject(value)) throw new ProtocolError('a frame that is no object');
  return value;
}

/** Counts what JSON.parse would have to build, and how deep. */
function measure(text: Buffer): void {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte === 0x22) {
      at = endOfString(text, at);
      tokens++;
    } else if (byte === 0x7b || byte === 0x5b) {
      tokens++;
      if (++depth > maximalDepth) throw new ProtocolError(`a frame nested deeper than ${maximalDepth}`);
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c || byte === 0x3a) tokens++;
  }
  // A number or a literal stands behind a comma, a colon or a bracket: those are counted in its place.
  if (tokens > 2 * maximalTokens) throw new ProtocolError(`a frame of more than ${maximalTokens} values`);
}

function endOfString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const byte = text[at];
    if (byte === 0x5c) at++;
    else if (byte === 0x22) return at;
  }
  return text.length;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
