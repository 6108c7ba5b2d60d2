// Indexes over several fields of a collection: how they are declared, and what is wrong with a declaration.
import { kinds } from '../../../storage/app/fields/kinds.ts';
import type { CollectionIndex, Field } from '../../../storage/definition.ts';
import { array, boolean, described, object, optional, string } from '../../contract/schema.ts';
import type { FieldError } from '../../errors.ts';

const maxIndexes = 32;
const maxIndexFields = 8;

/** The schema of the indexes of a collection. */
export const indexesSchema = array(
  object({
    fields: array(string(), { max: maxIndexFields }),
    unique: optional(
      described(boolean(), 'Refuses a record that has the same values as another one in all of the fields.'),
    ),
  }),
  { max: maxIndexes },
);

/** Columns that every record has, and that an index may have beside the fields. */
const ownColumns: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

/** The errors of declared indexes. `fields` are those of the collection itself, without those of its user. */
export function indexErrors(indexes: readonly CollectionIndex[], fields: readonly Field[]): FieldError[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const known = new Set<string>();
  return indexes.flatMap(({ fields: names }, position) => {
    const at = `schema.indexes.${position}.fields`;
    const errors = names.flatMap((name, place) => {
      const reason = names.indexOf(name) < place ? 'is named twice' : nameFault(name, byName.get(name));
      return reason === undefined ? [] : [{ field: `${at}.${place}`, reason }];
    });
    if (names.length === 0) errors.push({ field: at, reason: 'must name at least one field' });
    if (known.has(names.join())) errors.push({ field: at, reason: 'are those of another index' });
    known.add(names.join());
    return errors;
  });
}

function nameFault(name: string, field: Field | undefined): string | undefined {
  if (ownColumns.has(name)) return undefined;
  if (field === undefined) return `the collection has no field "${name}" of its own`;
  if (field.many === true) return 'holds many values; declare its own index with the field';
  return kinds[field.kind].settings.includes('index') ? undefined : `${field.kind} fields cannot be indexed`;
}

/** The errors of a change that leaves the indexes as they are, for fields that they name and that it drops. */
export function keptIndexErrors(indexes: readonly CollectionIndex[], fields: readonly Field[]): FieldError[] {
  const names = new Set([...fields.map(({ name }) => name), ...ownColumns]);
  return indexes.flatMap((index) =>
    index.fields.filter((name) => !names.has(name)).map((name) => ({
      field: `schema.fields.${name}`,
      reason: `is in the index of ${index.fields.join(', ')}; to drop both, send schema.indexes without it`,
    }))
  );
}
