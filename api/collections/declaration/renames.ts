// Fields that a change of a collection renames, as it declares them.
import type { Renames } from '../../../storage/app/alter/rename.ts';
import type { Field } from '../../../storage/definition.ts';
import type { FieldError } from '../../errors.ts';

/** A field as a change declares it. */
export interface ChangedField extends Field {
  /** The name that the field has had until now, if that was another. */
  was?: string | undefined;
}

/**
 * The fields without `was`, and what these rename. A field that has its new name already is not renamed again, so that the
 * same change can be sent twice.
 */
export function readRenames(
  before: readonly Field[],
  declared: readonly ChangedField[],
): { fields: Field[]; renames: Renames; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const renames = new Map<string, string>();
  const known = new Set(before.map(({ name }) => name));
  const fields = declared.map(({ was, ...field }) => {
    const { name } = field;
    if (was === undefined || was === name || (!known.has(was) && known.has(name))) return field;
    const reason = renameFault({ was, name }, { known, renames, declared });
    if (reason === undefined) renames.set(was, name);
    else errors.push({ field: `schema.fields.${name}.was`, reason });
    return field;
  });
  return { fields, renames, errors };
}

/**
 * For a moment, other processes go on with the old names. A name that is free is unknown to them; one that another field
 * has taken over would be read and written for what it was.
 */
function renameFault(
  { was, name }: { was: string; name: string },
  { known, renames, declared }: {
    known: ReadonlySet<string>;
    renames: Renames;
    declared: readonly ChangedField[];
  },
): string | undefined {
  if (!known.has(was)) return `there is no field "${was}"`;
  if (renames.has(was)) return `"${was}" is renamed already`;
  if (known.has(name)) {
    return `there is a field "${name}": names can be passed on only in a later change, once they are free`;
  }
  return declared.some((field) => field.name === was)
    ? `a field "${was}" cannot be declared in the same change`
    : undefined;
}
