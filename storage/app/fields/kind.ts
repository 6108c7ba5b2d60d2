// The interface of a field kind: everything that the rest of the program needs to know of one.
import type { Field } from '../../definition.ts';

/** A value as it is handed to the driver: a text that the kind's cast understands, or a number. */
export type StoredValue = string | number;

/** What became of a value from outside: what to store, or why it is refused. */
export type ParsedValue = { value: StoredValue } | { reason: string };

/** Reads one field's values. `null` and missing values never reach it. */
export type ValueReader = (value: unknown) => ParsedValue;

/** Members of a declaration that only some kinds have. */
export type FieldSetting = 'min' | 'max' | 'options' | 'target' | 'cascade_delete' | 'unique' | 'index';

/** A member of a declaration that is not as it must be. */
export interface SettingFault {
  setting: FieldSetting;
  reason: string;
}

/** How a filter may compare the values of a kind. */
export type Comparable = 'text' | 'number' | 'boolean' | 'datetime' | 'uuid' | 'json';

/** One kind of field. */
export interface Kind {
  /** Type of the column, as DDL spells it. Texts compare by code point, whatever the database's locale. */
  readonly column: string;
  /** Follows a parameter, so that its type does not depend on what the driver makes of a value. */
  readonly cast: string;
  /** Follows a column where it is selected. */
  readonly output: string;
  readonly comparable: Comparable;
  /** True when values are stored in lower case: what a filter compares them with is lowered first. */
  readonly isLowerCase: boolean;
  /** The settings that a declaration of this kind may have. */
  readonly settings: readonly FieldSetting[];
  /** What is wrong with the settings given; that they are of their own type is known. */
  settingFaults(field: Field): SettingFault[];
  /** The check of one field's values, made once a definition. */
  reader(field: Field): ValueReader;
  /** Turns what the driver reads into what a response holds; undefined when the two are the same. */
  readonly fromDatabase: ((value: unknown) => unknown) | undefined;
  /** What a response would hold for a value that is not stored yet, made of what `reader` returned. */
  shown(stored: StoredValue): unknown;
  /** The id of the collection, or `filesId`, whose rows a field's values name; undefined when they name none. */
  pointsTo(field: Field): string | undefined;
  /** The TypeScript type of a value, for those who write hooks. */
  hookType(field: Field): string;
}

/** `faultsOf` of kinds whose settings are right as soon as their types are. */
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
