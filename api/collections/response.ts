// Collections in responses.
import type { CollectionDefinition, Field } from '../../storage/definition.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import { fail } from '../errors.ts';
import { array, object, oneOf, string, timestamp } from '../contract/schema.ts';
import { fieldResponse } from './define.ts';
import { allFields } from './implied.ts';

/** The schema of a collection. */
export const collectionResponse = object({
  schema: object({ id: string(), kind: oneOf(['base', 'auth']), fields: array(fieldResponse) }),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** A collection in a response. */
export interface CollectionResponse {
  schema: { id: string; kind: 'base' | 'auth'; fields: Field[] };
  created_at: Date;
  updated_at: Date;
}

/** The response for a definition. */
export function showCollection(
  { id, kind, fields, created_at, updated_at }: Omit<CollectionDefinition, 'version' | 'rules'>,
): CollectionResponse {
  // jsonb does not keep the order of members.
  const ordered = allFields(kind, fields).map(({ name, kind, ...settings }) => ({ name, kind, ...settings }));
  return { schema: { id, kind, fields: ordered }, created_at, updated_at };
}

/** Returns a declared collection. Throws `404` for `users`, which is built in and cannot be changed. */
export function declaredOnly(collection: CollectionDefinition): CollectionDefinition {
  return collection.id === usersId
    ? fail('not_found', `"${usersId}" is built in: it has records, but no definition and no rules`)
    : collection;
}
