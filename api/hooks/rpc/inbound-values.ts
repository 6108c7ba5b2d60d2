// The values in a runner's messages: each is what it must be, or the channel cannot be trusted.
import { isUtf8 } from 'node:buffer';
import type {
  ActingAs,
  BatchRequest,
  Bytes,
  CallTable,
  Fields,
  Headers,
  Json,
  UserChanges,
} from '../../../hook-runner/calls.ts';
import type { Fault, RefusedField } from '../../../hook-runner/registrations.ts';
import { isObject, ProtocolError } from './frames.ts';

/** The members of an object. Throws `ProtocolError`, as all of these do. */
export function readMembers(given: unknown): Record<string, unknown> {
  if (!isObject(given)) throw new ProtocolError('a value that is no object');
  return given;
}

/** A text. */
export function readText(given: unknown): string {
  if (typeof given !== 'string') throw new ProtocolError('a value that is no text');
  return given;
}

/** The texts among these members, which may be left out. */
export function readTexts<Name extends string>(
  given: unknown,
  names: readonly Name[],
): { [N in Name]?: string } {
  const members = readMembers(given);
  const texts: { [N in Name]?: string } = {};
  for (const name of names) if (members[name] !== undefined) texts[name] = readText(members[name]);
  return texts;
}

/** The query of a list of records. */
export function readListQuery(given: unknown): CallTable['records.list']['args'][1] {
  const { page, per_page, skip_total } = readMembers(given);
  return {
    ...readTexts(given, ['filter', 'search', 'sort', 'cursor', 'expand', 'fields']),
    ...(page === undefined ? {} : { page: readNumber(page) }),
    ...(per_page === undefined ? {} : { per_page: readNumber(per_page) }),
    ...(skip_total === undefined ? {} : { skip_total: readBoolean(skip_total) }),
  };
}

/** A text of at most so many characters. */
export function readShortText(given: unknown, most: number): string {
  const text = readText(given);
  if (text.length > most) throw new ProtocolError(`a text of ${text.length} characters`);
  return text;
}

/** A number. */
function readNumber(given: unknown): number {
  if (typeof given !== 'number') throw new ProtocolError('a value that is no number');
  return given;
}

/** A whole number within bounds. */
export function readInteger(given: unknown, min: number, max: number): number {
  const value = readNumber(given);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ProtocolError('a number out of bounds');
  }
  return value;
}

/** An id: u32, from 1. */
export function readId(given: unknown): number {
  return readInteger(given, 1, 0xffff_ffff);
}

/** True or false. */
export function readBoolean(given: unknown): boolean {
  if (typeof given !== 'boolean') throw new ProtocolError('a value that is neither true nor false');
  return given;
}

/** One of these words. */
export function readWord<const Word extends string>(given: unknown, words: readonly Word[]): Word {
  return words.find((word) => word === given) ?? refuse('a word that is none of those there are');
}

/** A list of what `read` makes of each item. */
export function readList<Item>(given: unknown, read: (item: unknown) => Item): Item[] {
  if (!Array.isArray(given)) throw new ProtocolError('a value that is no list');
  return given.map((item) => read(item));
}

/** Any JSON value: frames hold nothing else. */
export function readJson(given: unknown): Json {
  if (given === undefined) throw new ProtocolError('a value is missing');
  return given as Json;
}

/** An object of JSON values. */
export function readRecordFields(given: unknown): Fields {
  return readMembers(given) as Fields;
}

/** A write of a batch. */
export function readBatchRequest(given: unknown): BatchRequest {
  const { method, collection, body } = readMembers(given);
  const request = {
    method: readText(method),
    collection: readText(collection),
    ...readTexts(given, ['id', 'on_conflict']),
  };
  return body === undefined ? request : { ...request, body: readRecordFields(body) };
}

/** The changes of an end-user. */
export function readUserChanges(given: unknown): UserChanges {
  const { verified } = readMembers(given);
  const texts = readTexts(given, ['email', 'password']);
  return verified === undefined ? texts : { ...texts, verified: readBoolean(verified) };
}

/** The caller that a call acts for. */
export function readActingAs(given: unknown): ActingAs {
  if (given === null) return null;
  const { id, role, app } = readMembers(given);
  return { id: readText(id), role: readText(role), app: app === null ? null : readText(app) };
}

/** Pairs of header names and values. */
export function readHeaders(given: unknown): Headers {
  return readList(given, (pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new ProtocolError('a header that is no pair');
    return [readText(pair[0]), readText(pair[1])] as const;
  });
}

/** Bytes in either spelling. */
export function readBytes(given: unknown): Bytes {
  const { text, base64 } = readMembers(given);
  if (text !== undefined) return { text: readText(text) };
  return { base64: readText(base64) };
}

/** Bytes as a buffer; base64 that is none decodes to what it can. */
export function toBuffer(bytes: Bytes): Buffer {
  return 'text' in bytes ? Buffer.from(bytes.text, 'utf8') : Buffer.from(bytes.base64, 'base64');
}

/** The same to be sent: a text as it is. */
export function toContent(bytes: Bytes): string | Buffer {
  return 'text' in bytes ? bytes.text : toBuffer(bytes);
}

/** Bytes in the spelling that costs less. */
export function encodeBytes(buffer: Buffer): Bytes {
  // Looked at first: to decode what is no text takes fifty times as long.
  const text = isUtf8(buffer) ? buffer.toString('utf8') : undefined;
  return text === undefined || costsMore(text, buffer) ? { base64: buffer.toString('base64') } : { text };
}

/** Below this, nobody minds that JSON takes six letters for a control character. */
const longTextLength = 65_536;

function costsMore(text: string, { length }: Buffer): boolean {
  return length > longTextLength && Buffer.byteLength(JSON.stringify(text)) > length * 4 / 3;
}

const maxMessageLength = 4_000;

/** A fault of an author's code. */
export function readFault(given: unknown): Fault {
  const { message, file, line, column, stack } = readMembers(given);
  const place = (value: unknown) => value === null ? null : readInteger(value, 0, 0x7fff_ffff);
  return {
    message: readText(message).slice(0, maxMessageLength),
    file: file === null ? null : readText(file),
    line: place(line),
    column: place(column),
    stack: stack === null ? null : readText(stack).slice(0, maxMessageLength),
  };
}

/** The field that an author's code refuses. */
export function readRefusedField(given: unknown): RefusedField {
  const { path, code } = readMembers(given);
  return { path: readShortText(path, 200), code: readShortText(code, 64) };
}

function refuse(message: string): never {
  throw new ProtocolError(message);
}
