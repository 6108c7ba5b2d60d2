// Declarations of views: what they have, and what only tables have.
import { createView } from '../../../storage/app/views/views.ts';
import type { CollectionDefinition, CollectionIndex, Field } from '../../../storage/definition.ts';
import { failValidation, type FieldError, reasons } from '../../errors.ts';
import type { CollectionChangeScope } from '../change.ts';
import { fieldNameFault } from '../declaration/names.ts';
import { explainRefusals } from './refusal.ts';

/** Members of a declaration that tables or views have. */
export interface DeclaredMembers {
  fields?: readonly Field[] | undefined;
  indexes?: readonly CollectionIndex[] | undefined;
  language?: string | undefined;
  query?: string | undefined;
}

const maxColumns = 500;

/** The errors of a declaration of a view. */
export function viewErrors({ query, ...others }: DeclaredMembers): FieldError[] {
  const errors: FieldError[] = (['fields', 'indexes', 'language'] as const)
    .filter((member) => others[member] !== undefined)
    .map((member) => ({
      field: `schema.${member}`,
      reason: member === 'fields'
        ? 'must be left out: the fields of a view are the columns of its query'
        : 'is not for views',
    }));
  if (query === undefined) errors.push({ field: 'schema.query', reason: reasons.required });
  return errors;
}

/** The declaration of a table, which has fields and no query. Throws `400 validation`. */
export function requireTable<Declared extends DeclaredMembers>(
  declared: Declared,
): Declared & { fields: NonNullable<Declared['fields']> } {
  const { fields, query } = declared;
  const errors: FieldError[] = query === undefined ? [] : [{ field: 'schema.query', reason: 'is for views' }];
  if (fields === undefined) errors.push({ field: 'schema.fields', reason: reasons.required });
  if (errors.length > 0 || fields === undefined) failValidation(errors);
  return { ...declared, fields };
}

/** The parts of the definition of a view. */
export type ViewDefinition = Pick<CollectionDefinition, 'fields' | 'indexes' | 'search' | 'query'>;

/** Makes a view over collections of the app. Throws `400 validation` or `400 unknown_column`. */
export async function makeView(
  { sql, schema, collections }: CollectionChangeScope,
  id: string,
  query: string,
): Promise<ViewDefinition> {
  const made = () => createView(sql, { schema, collection: id }, { query, collections, checkNames });
  return { fields: await explainRefusals(made), indexes: [], search: null, query };
}

function checkNames(names: readonly string[]): void {
  const faults = names.flatMap((name) => {
    const fault = fieldNameFault(name);
    return fault === undefined ? [] : [`a column ${fault}; name it with "as"`];
  });
  if (names.length > maxColumns) faults.push(`it has more than ${maxColumns} columns`);
  const [reason] = faults;
  if (reason !== undefined) failValidation([{ field: 'schema.query', reason }]);
}
