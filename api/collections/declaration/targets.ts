// Checks the targets of relations.
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { type CollectionDefinition, type Field, filesId } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import type { FieldError } from '../../errors.ts';

/** The errors of fields whose target does not exist. */
export function targetErrors(fields: readonly Field[], known: ReadonlySet<string>): FieldError[] {
  return fields.flatMap((field) => {
    const target = pointsTo(field);
    const isThere = target === undefined || target === usersId || target === filesId || known.has(target);
    return isThere ? [] : [{
      field: `schema.fields.${field.name}.target`,
      reason: `collection "${target}" does not exist`,
      code: 'not_found',
    }];
  });
}

/** The relations of other collections that point to this one, as `collection.field`. */
export function relationsTo(id: string, collections: Iterable<CollectionDefinition>): string[] {
  const relations: string[] = [];
  for (const other of collections) {
    if (other.id === id) continue;
    for (const { name, target } of other.fields) {
      if (target === id) relations.push(`${other.id}.${name}`);
    }
  }
  return relations;
}
