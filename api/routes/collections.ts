// Collections of an app.
import { alterCollection } from '../collections/alter.ts';
import { collectionResponse, declaredOnly, showCollection } from '../collections/response.ts';
import { createCollection } from '../collections/create.ts';
import { collectionBody, collectionChangeBody } from '../collections/declaration/define.ts';
import { dropCollection } from '../collections/drop.ts';
import { listCollections } from '../collections/list.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, object, okResponse, oneOf, optional, pageSchema } from '../contract/schema.ts';

/** Lists the collections of an app. */
export const collectionsList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections',
  summary: 'Lists the collections of an app, ordered by id.',
  scope: 'app_admin',
  key: 'definition:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(collectionResponse),
  handle: ({ target, query }) => listCollections(target.app, toPageRequest(query)),
});

/** Creates a collection and its table. */
export const collectionsCreate = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps/:app/collections',
  summary: 'Creates a collection.',
  scope: 'app_admin',
  key: 'definition:write',
  body: collectionBody,
  needsDisk: true,
  status: 201,
  response: collectionResponse,
  errors: ['quota_exceeded', 'conflict', 'unknown_column'],
  handle: ({ deps, target, body, principal, origin, now }) =>
    createCollection(deps, target.app, { declared: body.schema, by: { principal, origin, now } }),
});

/** Shows a collection. */
export const collectionsShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll',
  summary: 'Returns a collection.',
  scope: 'app_admin',
  key: 'definition:read',
  status: 200,
  response: collectionResponse,
  handle: ({ target }) => showCollection(declaredOnly(target.collection)),
});

/** Changes the fields of a collection, and its columns. */
export const collectionsAlter = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll',
  summary: 'Changes the fields of a collection. The body has the full list of them.',
  scope: 'app_admin',
  key: 'definition:write',
  query: object({
    confirm: described(
      optional(oneOf(['drop'])),
      'Confirms that fields missing from the list are dropped with all their values.',
    ),
    fill: described(
      optional(oneOf(['default'])),
      'Stores the defaults of new fields, and of fields that are required from now on, in records that have no value.',
    ),
  }),
  body: collectionChangeBody,
  needsDisk: true,
  status: 200,
  response: collectionResponse,
  errors: ['conflict', 'unknown_column'],
  handle: ({ deps, target, body, query, principal, origin, now }) =>
    alterCollection(deps, target.app, {
      id: target.collection.id,
      declared: body.schema,
      drop: query.confirm === 'drop',
      fill: query.fill === 'default',
      by: { principal, origin, now },
    }),
});

/** Drops a collection with its records. */
export const collectionsDrop = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/collections/:coll',
  summary: 'Deletes a collection with all its records.',
  scope: 'app_admin',
  key: 'definition:write',
  status: 200,
  response: okResponse,
  errors: ['conflict'],
  handle: ({ deps, target, principal, origin, now }) =>
    dropCollection(deps, target.app, { id: target.collection.id, by: { principal, origin, now } }),
});
