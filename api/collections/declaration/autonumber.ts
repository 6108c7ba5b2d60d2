// Checks the declarations of fields that number records.
import { numberingOf } from '../../../storage/app/fields/autonumber.ts';
import { kinds } from '../../../storage/app/fields/kinds.ts';
import type { Field } from '../../../storage/definition.ts';
import type { FieldError } from '../../errors.ts';

/** The errors of fields that number records within a field which cannot be used for that. */
export function numberingErrors(fields: readonly Field[]): FieldError[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return fields.flatMap((field) => {
    const within = numberingOf(field)?.within;
    if (within === undefined) return [];
    const reason = withinFault(within, byName.get(within));
    return reason === undefined ? [] : [{ field: `schema.fields.${field.name}.autonumber.within`, reason }];
  });
}

function withinFault(name: string, field: Field | undefined): string | undefined {
  if (field === undefined) return `the collection has no field "${name}" of its own`;
  if (field.many === true) return 'cannot be a field of many';
  const { comparable } = kinds[field.kind];
  if (comparable !== 'text' && comparable !== 'uuid') return `cannot be a ${field.kind} field`;
  return field.required === true ? undefined : `must be required: "${name}" is not`;
}

/** The error of a change of how a field numbers records: numbers that were given would be others. */
export function numberingChange(before: Field, after: Field): FieldError[] {
  const [was, is] = [numberingOf(before), numberingOf(after)];
  if (was === undefined || is === undefined || was.within === is.within) return [];
  const reason = `cannot be changed; take autonumber off the field first`;
  return [{ field: `schema.fields.${after.name}.autonumber`, reason }];
}
