// What a record of a collection shows, and what creates and updates take: the same for types, schemas and documents.
import { numberingOf } from '../../storage/app/fields/autonumber.ts';
import type { CollectionDefinition, Field } from '../../storage/definition.ts';
import { shownFields, usersId } from '../../storage/workspace/identities.ts';

/** A field as responses show it. */
export interface RecordField {
  field: Field;
  /** True when it may hold no value. */
  isNullable: boolean;
}

/** A field as a body sets it. */
export interface InputField extends RecordField {
  /** True when a create without it is refused. */
  isRequired: boolean;
  /** True when an update may say how it changes: `count+`, `tags-`. */
  isModifiable: boolean;
}

/** The fields of a record, in the order in which responses show them. */
export function recordFields({ id, kind, fields }: CollectionDefinition): RecordField[] {
  const ofUser = kind === 'auth' ? shownFields : id === usersId ? fields : [];
  // All that is known of a user there is for everybody; only a login may be still to come.
  const isThere = (field: Field) => field.name !== 'last_login' && ofUser.includes(field);
  const all = kind === 'auth' ? [...shownFields, ...fields] : fields;
  return all.map((field) => ({
    field,
    isNullable: field.required !== true && field.many !== true && !isThere(field),
  }));
}

/** True for a collection whose records are created and changed by requests. */
export function takesWrites({ id, kind }: CollectionDefinition): boolean {
  return kind !== 'view' && id !== usersId;
}

/** The fields that a body may set. That of a new profile has `email` and `password` besides. */
export function inputFields({ fields }: CollectionDefinition): InputField[] {
  return fields.filter((field) => numberingOf(field) === undefined).map((field) => ({
    field,
    isNullable: field.required !== true,
    isRequired: field.required === true && (field.default === undefined || field.default === null),
    isModifiable: field.many === true || field.kind === 'number',
  }));
}
