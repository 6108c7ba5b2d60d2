// Collections in responses.
import type {
  CollectionDefinition,
  CollectionIndex,
  CollectionKind,
  Field,
} from '../../storage/definition.ts';
import { usersId } from '../../storage/workspace/identities.ts';
import { fail } from '../errors.ts';
import {
  array,
  described,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  timestamp,
} from '../contract/schema.ts';
import { fieldResponse } from './declaration/define.ts';
import { allFields } from './declaration/implied.ts';
import { indexesSchema } from './declaration/indexes.ts';

const indexesResponse: Schema<CollectionIndex[]> = indexesSchema;

/** The schema of a collection. */
export const collectionResponse = object({
  schema: object({
    id: string(),
    kind: oneOf(['base', 'auth', 'view']),
    query: described(optional(string()), 'Of views alone.'),
    language: optional(string()),
    fields: array(fieldResponse),
    indexes: described(optional(indexesResponse), 'Left out when there are none.'),
  }),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** A collection in a response. */
export interface CollectionResponse {
  schema: {
    id: string;
    kind: CollectionKind;
    query?: string;
    language?: string;
    fields: Field[];
    indexes?: CollectionIndex[];
  };
  created_at: Date;
  updated_at: Date;
}

/** The response for a definition. */
export function showCollection(
  { id, kind, fields, indexes, search, query, created_at, updated_at }: Omit<
    CollectionDefinition,
    'version' | 'rules'
  >,
): CollectionResponse {
  // jsonb does not keep the order of members.
  const ordered = allFields(kind, fields).map(({ name, kind, ...settings }) => ({ name, kind, ...settings }));
  const declared = indexes.map(({ fields, ...settings }) => ({ fields, ...settings }));
  return {
    schema: {
      id,
      kind,
      ...(typeof query === 'string' ? { query } : {}),
      ...(search ? { language: search.language } : {}),
      fields: ordered,
      ...(declared.length === 0 ? {} : { indexes: declared }),
    },
    created_at,
    updated_at,
  };
}

/** Returns a declared collection. Throws `404` for `users`, which is built in and cannot be changed. */
export function declaredOnly(collection: CollectionDefinition): CollectionDefinition {
  return collection.id === usersId
    ? fail('not_found', `"${usersId}" is built in: it has records, but no definition and no rules`)
    : collection;
}
