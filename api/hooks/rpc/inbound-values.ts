// The values in a runner's messages: each is what it must be, or the channel cannot be trusted.
import { isUtf8 } from 'node:buffer';
import type { Bytes, Fields, Headers, Json } from '../../../hook-runner/calls.ts';
import type { Fault } from '../../../hook-runner/registrations.ts';
import { isObject, ProtocolError } from './frames.ts';

/** The members of an object. Throws `ProtocolError`, as all of these do. */
export function membersOf(given: unknown): Record<string, unknown> {
  if (!isObject(given)) throw new ProtocolError('a value that is no object');
  return given;
}

/** A text. */
export function textOf(given: unknown): string {
  if (typeof given !== 'string') throw new ProtocolError('a value that is no text');
  return given;
}

/** A text of at most so many characters. */
export function shortOf(given: unknown, most: number): string {
  const text = textOf(given);
  if (text.length > most) throw new ProtocolError(`a text of ${text.length} characters`);
  return text;
}

/** A number. */
export function numberOf(given: unknown): number {
  if (typeof given !== 'number') throw new ProtocolError('a value that is no number');
  return given;
}

/** A whole number within bounds. */
export function wholeOf(given: unknown, min: number, max: number): number {
  const value = numberOf(given);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ProtocolError('a number out of bounds');
  }
  return value;
}

/** An id: u32, from 1. */
export function idOf(given: unknown): number {
  return wholeOf(given, 1, 0xffff_ffff);
}

/** True or false. */
export function truthOf(given: unknown): boolean {
  if (typeof given !== 'boolean') throw new ProtocolError('a value that is neither true nor false');
  return given;
}

/** One of these words. */
export function wordOf<const Word extends string>(given: unknown, words: readonly Word[]): Word {
  return words.find((word) => word === given) ?? refuse('a word that is none of those there are');
}

/** A list of what `read` makes of each item. */
export function listOf<Item>(given: unknown, read: (item: unknown) => Item): Item[] {
  if (!Array.isArray(given)) throw new ProtocolError('a value that is no list');
  return given.map((item) => read(item));
}

/** Any JSON value: frames hold nothing else. */
export function jsonOf(given: unknown): Json {
  if (given === undefined) throw new ProtocolError('a value is missing');
  return given as Json;
}

/** An object of JSON values. */
export function fieldsOf(given: unknown): Fields {
  return membersOf(given) as Fields;
}

/** Pairs of header names and values. */
export function headersOf(given: unknown): Headers {
  return listOf(given, (pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new ProtocolError('a header that is no pair');
    return [textOf(pair[0]), textOf(pair[1])] as const;
  });
}

/** Bytes in either spelling. */
export function bytesOf(given: unknown): Bytes {
  const { text, base64 } = membersOf(given);
  if (text !== undefined) return { text: textOf(text) };
  return { base64: textOf(base64) };
}

/** Bytes as a buffer; base64 that is none decodes to what it can. */
export function bufferOf(bytes: Bytes): Buffer {
  return 'text' in bytes ? Buffer.from(bytes.text, 'utf8') : Buffer.from(bytes.base64, 'base64');
}

/** The same to be sent: a text as it is. */
export function contentOf(bytes: Bytes): string | Buffer {
  return 'text' in bytes ? bytes.text : bufferOf(bytes);
}

/** Bytes in the spelling that costs less. */
export function spell(buffer: Buffer): Bytes {
  // Looked at first: to decode what is no text takes fifty times as long.
  const text = isUtf8(buffer) ? buffer.toString('utf8') : undefined;
  return text === undefined || costsMore(text, buffer) ? { base64: buffer.toString('base64') } : { text };
}

/** Below this, nobody minds that JSON takes six letters for a control character. */
const longText = 65_536;

function costsMore(text: string, { length }: Buffer): boolean {
  return length > longText && Buffer.byteLength(JSON.stringify(text)) > length * 4 / 3;
}

const longestMessage = 4_000;

/** A fault of an author's code. */
export function faultOf(given: unknown): Fault {
  const { message, file, line, column, stack } = membersOf(given);
  const place = (value: unknown) => value === null ? null : wholeOf(value, 0, 0x7fff_ffff);
  return {
    message: textOf(message).slice(0, longestMessage),
    file: file === null ? null : textOf(file),
    line: place(line),
    column: place(column),
    stack: stack === null ? null : textOf(stack).slice(0, longestMessage),
  };
}

function refuse(message: string): never {
  throw new ProtocolError(message);
}
