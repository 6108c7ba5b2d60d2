// JSON as PostgreSQL wrote it, and the JSON of what holds some of it.

/**
 * A JSON value that nobody has read yet. To make objects of it, and JSON of those, takes fifty times as long as to copy its
 * text, without a pause: seconds, for records with thousands of keys.
 */
export class JsonText {
  readonly text: string;
  #value: { read: unknown } | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Reads it, once. */
  get value(): unknown {
    this.#value ??= { read: JSON.parse(this.text) };
    return this.#value.read;
  }

  /** For `JSON.stringify`, which has no way to take a text as it is. */
  toJSON(): unknown {
    return this.#value === undefined ? JSON.parse(this.text) : this.#value.read;
  }
}

/** How long the text of a value is. */
export interface TextLength {
  /** Roughly, in characters; no more than it takes to be over a bound. */
  all: number;
  /** That of unread JSON in it, as far as was looked. */
  unread: number;
}

/** Measures an object, and looks no further once its text is longer than `most`. */
export function textLength(value: object, most = Infinity): TextLength {
  const length = { all: 0, unread: 0 };
  if (isContainer(value)) measureMembers(value, length, most);
  return length;
}

function measureMembers(value: Container, length: TextLength, most: number): void {
  if (value instanceof JsonText) {
    length.all += value.text.length;
    length.unread += value.text.length;
  } else if (Array.isArray(value)) {
    for (const item of value) if (!measureOne(item, length, most)) return;
  } else for (const name in value) if (!measureOne(value[name], length, most)) return;
}

function measureOne(member: unknown, length: TextLength, most: number): boolean {
  length.all++;
  if (typeof member === 'string') length.all += member.length;
  else if (isContainer(member)) measureMembers(member, length, most);
  return length.all <= most;
}

/** In characters of unread JSON. To read less of it and to write it again is faster than to put texts together. */
const worthCopying = 16_384;

/** The same as `JSON.stringify` of an object, but for long JSON that nobody has read, which is taken as it is. */
export function toJson(value: object, { unread } = textLength(value)): string {
  return unread < worthCopying ? JSON.stringify(value) : copyOf(value);
}

function copyOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (!isContainer(value) || 'toJSON' in value) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(copyOf).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${copyOf(member)}`).join(',')}}`;
}

type Container = Readonly<Record<string, unknown>>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
