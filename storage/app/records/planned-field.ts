// A field of a collection, as every request for its records meets it.
import type { Field } from '../../definition.ts';
import type { StoredValue, ValueReader } from '../fields/kind.ts';
import { kinds } from '../fields/kinds.ts';

/** A field with everything that does not depend on the request. */
export interface PlannedField {
  field: Field;
  read: ValueReader;
  /** What a create stores when the field is left out; null without a default. */
  fallback: StoredValue | null;
}

/** What can be known of a field ahead. */
export function planField(field: Field): PlannedField {
  const read = kinds[field.kind].reader(field);
  // The declaration was refused if its default could not be read.
  const reading = field.default === undefined || field.default === null ? undefined : read(field.default);
  return { field, read, fallback: reading !== undefined && 'value' in reading ? reading.value : null };
}
