// The values of a form, by the fields of a collection.
import { isUtf8 } from 'node:buffer';
import { textFault } from '../../../storage/sql/characters.ts';
import { kinds, pointsTo } from '../../../storage/app/fields/kinds.ts';
import { valueOfText } from '../../../storage/app/records/bulk/text-form.ts';
import { type CollectionDefinition, type Field, filesId } from '../../../storage/definition.ts';
import { ApiError, fail, failValidation } from '../../errors.ts';
import type { RecordInput } from '../../records/input/values.ts';
import { jsonOf, objectOfLine } from '../../records/transfer/ndjson.ts';

/** The part that has further values, as a JSON object: the name that clients of PocketBase know. */
const payloadName = '@jsonPayload';

/** Collects the parts of a form. */
export class FormValues {
  readonly #fields: ReadonlyMap<string, Field>;
  /** Values that may come once. */
  readonly #single = new Map<string, unknown>();
  /** The items of fields of many, each of which may be a part of its own. */
  readonly #items = new Map<string, unknown[]>();

  constructor({ fields }: Pick<CollectionDefinition, 'fields'>) {
    this.#fields = new Map(fields.map((field) => [field.name, field]));
  }

  /** Adds a text part. Throws `400 validation` for what cannot be read, or comes twice. */
  addText(name: string, bytes: Buffer): void {
    try {
      if (name === payloadName) {
        for (const [member, value] of Object.entries(objectOfLine(bytes))) this.#addSingle(member, value);
      } else this.#add(name, valueOf(this.#field(name), bytes));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'validation' && error.errors.length === 0) {
        refusePart(name, error.message);
      }
      throw error;
    }
  }

  /** The field that takes a file part. Throws `400 validation` when none does. */
  fileField(name: string): Field {
    const field = this.#field(name);
    if (field === undefined || pointsTo(field) !== filesId) refusePart(name, 'is no field for files');
    if (this.#single.has(name)) refusePart(name, 'comes twice');
    return field;
  }

  /** Adds the id of a file. */
  addFile(name: string, id: string): void {
    this.#add(name, id);
  }

  /** All values. */
  input(): RecordInput {
    return Object.fromEntries([...this.#single, ...this.#items]);
  }

  /** The field that a name stands for, also with a modifier (`tags+`). */
  #field(name: string): Field | undefined {
    return this.#fields.get(name) ?? this.#fields.get(name.replace(/[+-]$/, ''));
  }

  #add(name: string, value: unknown): void {
    if (this.#field(name)?.many !== true) return this.#addSingle(name, value);
    if (this.#single.has(name)) refusePart(name, 'comes twice');
    const items = this.#items.get(name) ?? [];
    items.push(...Array.isArray(value) ? value : [value]);
    this.#items.set(name, items);
  }

  #addSingle(name: string, value: unknown): void {
    if (this.#single.has(name) || this.#items.has(name)) refusePart(name, 'comes twice');
    this.#single.set(name, value);
  }
}

/** Throws `400 validation` for a part. */
export function refusePart(name: string, reason: string): never {
  failValidation([{ field: name.slice(0, 100), reason }]);
}

/** The value of a text. In a form, an empty one clears a field, unless it holds texts. */
function valueOf(field: Field | undefined, bytes: Buffer): unknown {
  if (!isUtf8(bytes)) fail('validation', 'is not UTF-8');
  const text = bytes.toString();
  if (field === undefined || field.kind === 'text' && field.many !== true) return checked(text);
  if (text === '' && field.many !== true) return null;
  const isJson = kinds[field.kind].comparable === 'json' || field.many === true && text.startsWith('[');
  return isJson ? jsonOf(bytes) : valueOfText(field, checked(text));
}

function checked(text: string): string {
  const fault = textFault(text);
  return fault === undefined ? text : fail('validation', fault);
}
