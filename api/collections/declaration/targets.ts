// Checks the targets of relations.
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { type CollectionDefinition, type Field, filesId } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import type { FieldError } from '../../errors.ts';

/** The errors of fields whose target does not exist. */
export function targetErrors(
  fields: readonly Field[],
  collections: ReadonlyMap<string, CollectionDefinition>,
  itself?: string,
): FieldError[] {
  return fields.flatMap((field): FieldError[] => {
    const target = pointsTo(field);
    if (target === undefined || target === usersId || target === filesId || target === itself) return [];
    const found = collections.get(target);
    const at = `schema.fields.${field.name}.target`;
    if (found === undefined) {
      return [{ field: at, reason: `collection "${target}" does not exist`, code: 'not_found' }];
    }
    return found.kind === 'view'
      ? [{ field: at, reason: `"${target}" is a view, which has no records` }]
      : [];
  });
}

/** The relations of other collections that point to this one, as `collection.field`. */
export function relationsTo(id: string, collections: Iterable<CollectionDefinition>): string[] {
  const relations: string[] = [];
  for (const other of collections) {
    if (other.id === id || other.kind === 'view') continue;
    for (const { name, target } of other.fields) {
      if (target === id) relations.push(`${other.id}.${name}`);
    }
  }
  return relations;
}
