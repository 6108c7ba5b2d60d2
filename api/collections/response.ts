// A collection as responses show it.
import type { CollectionDefinition, Field } from '../../storage/definition.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import { fail } from '../errors.ts';
import { list, object, oneOf, text, timestamp } from '../contract/schema.ts';
import { fieldResponse } from './define.ts';
import { allFields } from './implied.ts';

/** The shape, for the API description. */
export const collectionResponse = object({
  schema: object({ id: text(), kind: oneOf(['base', 'auth']), fields: list(fieldResponse) }),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** What a create, a change and a look at a collection answer. */
export interface CollectionResponse {
  schema: { id: string; kind: 'base' | 'auth'; fields: Field[] };
  created_at: Date;
  updated_at: Date;
}

/** A definition as responses show it. */
export function showCollection(
  { id, kind, fields, created_at, updated_at }: Omit<CollectionDefinition, 'version' | 'rules'>,
): CollectionResponse {
  // jsonb keeps the members of an object in an order of its own.
  const ordered = allFields(kind, fields).map(({ name, kind, ...settings }) => ({ name, kind, ...settings }));
  return { schema: { id, kind, fields: ordered }, created_at, updated_at };
}

/** A collection of the app's own. Throws `404` for `users`, which is built in: nobody declared it, nobody can change it. */
export function declaredOnly(collection: CollectionDefinition): CollectionDefinition {
  return collection.id === usersId
    ? fail('not_found', `"${usersId}" is built in: it has records, but no definition and no rules`)
    : collection;
}
