// Fields that a collection of kind `auth` has without their being declared.
import { isDeepStrictEqual } from 'node:util';
import type { CollectionKind, Field } from '../../storage/definition.ts';
import { impliedFields } from '../../storage/workspace/identities.ts';
import type { FieldError } from '../errors.ts';

const implied: ReadonlyMap<string, Field> = new Map(impliedFields.map((field) => [field.name, field]));

/** All fields of a collection: what a definition shows. */
export function allFields(kind: CollectionKind, fields: readonly Field[]): readonly Field[] {
  return kind === 'auth' ? [...impliedFields, ...fields] : fields;
}

/** The fields that a declaration adds to the implied ones. It may repeat those as they are shown, and not change them. */
export function ownFields(
  kind: CollectionKind,
  declared: readonly Field[],
): { fields: readonly Field[]; errors: FieldError[] } {
  if (kind !== 'auth') return { fields: declared, errors: [] };
  const errors: FieldError[] = [];
  const fields = declared.filter((field) => {
    const original = implied.get(field.name);
    if (original === undefined) return true;
    if (!repeats(field, original)) {
      errors.push({
        field: `schema.fields.${field.name}`,
        reason: 'is part of every auth collection and cannot be declared otherwise',
      });
    }
    return false;
  });
  return { fields, errors };
}

/** Whether everything that is said of a field is so. */
function repeats(field: Field, original: Field): boolean {
  const whole: Readonly<Record<string, unknown>> = { ...original };
  return Object.entries(field).every(([setting, value]) =>
    value === undefined || value === null || isDeepStrictEqual(value, whole[setting] ?? false)
  );
}
