// JSON as PostgreSQL wrote it, and the JSON of objects that contain some.
import { parseJson } from './exact-json.ts';

/**
 * A JSON value that is not parsed yet. To parse it and write it again takes fifty times as long as to copy its text:
 * seconds, without a pause, for records with thousands of keys.
 */
export class JsonText {
  readonly text: string;
  #value: { read: unknown } | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The value, parsed once; numbers that a double cannot hold are an `ExactNumber`. */
  get value(): unknown {
    this.#value ??= { read: parseJson(this.text) };
    return this.#value.read;
  }

  /** For `JSON.stringify`, which has no way to take a text as it is. */
  toJSON(): unknown {
    return this.#value === undefined ? parseJson(this.text) : this.#value.read;
  }
}

/** The length of a value's JSON. */
export interface TextLength {
  /** In characters, roughly; counted no further than `max`. */
  all: number;
  /** Of it, that of unparsed JSON. */
  unread: number;
}

/** Measures an object, and stops once its JSON is longer than `max`. */
export function textLength(value: object, max = Infinity): TextLength {
  const length = { all: 0, unread: 0 };
  if (isContainer(value)) measureMembers(value, length, max);
  return length;
}

function measureMembers(value: Container, length: TextLength, max: number): void {
  if (value instanceof JsonText) {
    length.all += value.text.length;
    length.unread += value.text.length;
  } else if (Array.isArray(value)) {
    for (const item of value) if (!measureOne(item, length, max)) return;
  } else for (const name in value) if (!measureOne(value[name], length, max)) return;
}

function measureOne(member: unknown, length: TextLength, max: number): boolean {
  length.all++;
  if (typeof member === 'string') length.all += member.length;
  else if (isContainer(member)) measureMembers(member, length, max);
  return length.all <= max;
}

/** In characters of unparsed JSON. To parse and write less than this is faster than to concatenate texts. */
const worthCopying = 16_384;

/** The same as `JSON.stringify` of an object, but copies long JSON that is not parsed. */
export function toJson(value: object, { unread } = textLength(value)): string {
  return unread < worthCopying ? JSON.stringify(value) : copyOf(value);
}

function copyOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (!isContainer(value) || 'toJSON' in value || JSON.isRawJSON(value)) {
    return JSON.stringify(value) ?? 'null';
  }
  if (Array.isArray(value)) return `[${value.map(copyOf).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${copyOf(member)}`).join(',')}}`;
}

type Container = Readonly<Record<string, unknown>>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
