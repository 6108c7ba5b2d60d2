// The implied fields of collections of kind `auth`.
import { isDeepStrictEqual } from 'node:util';
import type { CollectionKind, Field } from '../../../storage/definition.ts';
import { impliedFields } from '../../../storage/workspace/identities.ts';
import type { FieldError } from '../../errors.ts';

const implied: ReadonlyMap<string, Field> = new Map(impliedFields.map((field) => [field.name, field]));

/** All fields of a collection, the implied ones first. */
export function allFields(kind: CollectionKind, fields: readonly Field[]): readonly Field[] {
  return kind === 'auth' ? [...impliedFields, ...fields] : fields;
}

/** The declared fields without the implied ones, which a declaration may repeat but not change. */
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

/** True when each declared setting equals the original one. */
function repeats(field: Field, original: Field): boolean {
  const whole: Readonly<Record<string, unknown>> = { ...original };
  return Object.entries(field).every(([setting, value]) =>
    value === undefined || value === null || isDeepStrictEqual(value, whole[setting] ?? false)
  );
}
