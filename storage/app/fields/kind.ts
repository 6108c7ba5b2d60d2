// The interface of a field kind: everything that the rest of the program needs to know of one.
import type { Field } from '../../definition.ts';

/** A value as it is sent to PostgreSQL: a text that the kind's cast understands, or a number. */
export type StoredValue = string | number;

/** The result of checking a value from outside: the value to store, or the reason why it is refused. */
export type ParsedValue = { value: StoredValue } | { reason: string };

/** Checks one field's values. It gets no `null` and no missing value. */
export type ValueReader = (value: unknown) => ParsedValue;

/** Members of a declaration that only some kinds have. */
export type FieldSetting =
  | 'min'
  | 'max'
  | 'options'
  | 'target'
  | 'many'
  | 'max_size'
  | 'mime'
  | 'delete_with_record'
  | 'cascade_delete'
  | 'unique'
  | 'index'
  | 'autonumber'
  | 'search';

/** A wrong member of a declaration. */
export interface SettingFault {
  setting: FieldSetting;
  reason: string;
}

/** A JSON Schema (2020-12), as far as the values of fields need it. */
export interface ValueSchema {
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  enum?: readonly string[];
  items?: ValueSchema;
}

/** The bounds of a declaration under the names that they have in a schema; those that are not declared are left out. */
export function boundsAs(
  { min, max }: Pick<Field, 'min' | 'max'>,
  [low, high]: readonly ['minimum' | 'minLength' | 'minItems', 'maximum' | 'maxLength' | 'maxItems'],
): ValueSchema {
  const bounds: ValueSchema = {};
  if (min !== undefined) bounds[low] = min;
  if (max !== undefined) bounds[high] = max;
  return bounds;
}

/** The ways in which a filter compares values. */
export type Comparable = 'text' | 'number' | 'boolean' | 'datetime' | 'uuid' | 'json';

/** One kind of field. */
export interface Kind {
  /** Type of the column, as DDL spells it. Texts compare by code point, whatever the locale of the database. */
  readonly column: string;
  /** Follows a parameter, so that its type does not depend on what the driver makes of a value. */
  readonly cast: string;
  /** Follows a column where it is selected. */
  readonly output: string;
  /** Follows a value where it is compared with another to see whether they are the same in a response. */
  readonly identity: string;
  readonly comparable: Comparable;
  /** True when values are stored in lower case. A filter then lowers what it compares them with. */
  readonly isLowerCase: boolean;
  /** The settings that a declaration of this kind may have. */
  readonly settings: readonly FieldSetting[];
  /** The faults of a declaration's settings. Their own types have been checked. */
  settingFaults(field: Field): SettingFault[];
  /** The check of one field's values, made once for each version of a definition. */
  reader(field: Field): ValueReader;
  /** Turns what the driver reads into what a response holds; undefined when the two are the same. */
  readonly fromDatabase: ((value: unknown) => unknown) | undefined;
  /** The value in a response, for a value that is not stored yet, made of what `reader` returned. */
  shown(stored: StoredValue): unknown;
  /** The id of the collection, or `filesId`, whose rows a field's values name; undefined when they name none. */
  pointsTo(field: Field): string | undefined;
  /** The TypeScript type of a value, for authors of hooks and of clients. */
  typeScript(field: Field): string;
  /** The JSON Schema of a value that `reader` takes, and that a response holds. */
  jsonSchema(field: Field): ValueSchema;
}

/** `settingFaults` of kinds whose settings are right as soon as their types are. */
export function noFaults(): SettingFault[] {
  return [];
}

/** `shown` of kinds whose values look the same stored and in a response. */
export function asStored(stored: StoredValue): unknown {
  return stored;
}

/** `pointsTo` of kinds whose values name no row. */
export function pointsNowhere(): undefined {
  return undefined;
}
