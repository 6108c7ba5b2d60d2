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

/** The same as `JSON.stringify` of an object, but for JSON that nobody has read, which is taken as it is. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (!isContainer(value) || !holdsJsonText(value)) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`).join(',')}}`;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function holdsJsonText(value: object): boolean {
  if (value instanceof JsonText) return true;
  return Object.values(value).some((member: unknown) => isContainer(member) && holdsJsonText(member));
}
