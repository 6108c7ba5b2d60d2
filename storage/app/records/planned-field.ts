// The fields of a collection with what does not depend on the request, computed once.
import type { CollectionDefinition, Field } from '../../definition.ts';
import type { StoredValue, ValueReader } from '../fields/kind.ts';
import { numberingOf } from '../fields/autonumber.ts';
import { kindOf } from '../fields/kinds.ts';
import { noItems } from '../fields/many.ts';
import { attachmentName, indexName } from '../tables.ts';

/** A field with everything that does not depend on the request. */
export interface PlannedField {
  field: Field;
  read: ValueReader;
  /** The value that a create stores when the field is missing; null without a default. */
  fallback: StoredValue | null;
  /** The value of a field that has none. */
  empty: StoredValue | null;
}

/** Computes the parts of a field that do not depend on the request. */
export function planField(field: Field): PlannedField {
  const read = kindOf(field).reader(field);
  // A declaration whose default does not pass its own check is refused.
  const reading = field.default === undefined || field.default === null ? undefined : read(field.default);
  return {
    field,
    read,
    fallback: reading !== undefined && 'value' in reading ? reading.value : null,
    empty: field.many === true ? noItems : null,
  };
}

/** The names of fields by the unique and reference constraints on them, and by the unique indexes over them. */
export function constraintFields(
  { id, kind, fields, indexes }: CollectionDefinition,
): ReadonlyMap<string, readonly string[]> {
  const constraints = new Map<string, readonly string[]>();
  for (const field of fields) {
    const { name } = field;
    constraints.set(attachmentName('unique', id, name), [name]);
    constraints.set(attachmentName('reference', id, name), [name]);
    const within = numberingOf(field)?.within;
    constraints.set(attachmentName('number', id, name), within === undefined ? [name] : [within, name]);
  }
  for (const index of indexes) constraints.set(indexName(id, index), index.fields);
  // A profile has the id of its user. Callers know the user by the email.
  if (kind === 'auth') constraints.set(attachmentName('primary', id, 'id'), ['email']);
  return constraints;
}
