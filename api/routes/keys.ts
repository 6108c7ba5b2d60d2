// API keys of the server, of a workspace and of an app.
import { createApiKey } from '../auth/keys/create.ts';
import { keyMembers, keyResponse } from '../auth/keys/key-response.ts';
import { findApiKey, listApiKeys } from '../auth/keys/list.ts';
import { removeApiKey } from '../auth/keys/remove.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { keyScopePattern } from '../contract/key-scopes.ts';
import { stated } from '../contract/stated.ts';
import { type AnyRoute, route } from '../contract/route.ts';
import {
  array,
  described,
  nullable,
  object,
  okResponse,
  optional,
  pageSchema,
  string,
} from '../contract/schema.ts';

const newKey = object({
  name: string({ min: 1, max: 200 }),
  scopes: described(
    stated(array(stated(string({ min: 1, max: 250 }), { pattern: keyScopePattern }), { max: 100 }), {
      minItems: 1,
    }),
    'What the key may do: docs/reference/api-keys.md lists all scopes.',
  ),
  expires_at: described(
    optional(nullable(string({ max: 64, format: 'date-time' }))),
    'The end of the key. Default: none.',
  ),
});

const madeKey = object({
  ...keyMembers,
  secret: described(string(), 'The bearer token of the key, which is shown only here.'),
});

const server = { path: '/api/keys', scope: 'master' } as const;
const tenants = [
  { path: '/api/workspaces/:workspace/keys', scope: 'workspace_admin' },
  { path: '/api/workspaces/:workspace/apps/:app/keys', scope: 'app_admin' },
] as const;

/** The members of declarations that are the same at every level. No key may call them. */
const create = {
  method: 'POST',
  summary: 'Creates an API key. Only this response shows its secret.',
  key: 'never',
  needsDisk: true,
  body: newKey,
  status: 201,
  response: madeKey,
} as const;
const list = {
  method: 'GET',
  summary: 'Lists the API keys of this level.',
  key: 'never',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(keyResponse),
} as const;
const show = {
  method: 'GET',
  summary: 'Returns an API key, without its secret.',
  key: 'never',
  status: 200,
  response: keyResponse,
} as const;
const remove = {
  method: 'DELETE',
  summary: 'Deletes an API key. It is refused at once, and its streams end.',
  key: 'never',
  status: 200,
  response: okResponse,
} as const;

const serverKeys: readonly AnyRoute[] = [
  route({
    ...create,
    ...server,
    handle: ({ deps, body, principal, origin, now }) =>
      createApiKey(deps, {}, { ...body, principal, origin, now }),
  }),
  route({
    ...list,
    ...server,
    handle: ({ deps, query }) => listApiKeys(deps, {}, toPageRequest(query)),
  }),
  route({
    ...show,
    ...server,
    path: `${server.path}/:id`,
    handle: ({ deps, params }) => findApiKey(deps, {}, params.id),
  }),
  route({
    ...remove,
    ...server,
    path: `${server.path}/:id`,
    handle: ({ deps, params, principal, origin, now }) =>
      removeApiKey(deps, { target: {}, id: params.id }, { principal, origin, now }),
  }),
];

const tenantKeys = tenants.flatMap(({ path, scope }): AnyRoute[] => [
  route({
    ...create,
    path,
    scope,
    handle: ({ deps, target, body, principal, origin, now }) =>
      createApiKey(deps, target, { ...body, principal, origin, now }),
  }),
  route({
    ...list,
    path,
    scope,
    handle: ({ deps, target, query }) => listApiKeys(deps, target, toPageRequest(query)),
  }),
  route({
    ...show,
    path: `${path}/:id`,
    scope,
    handle: ({ deps, target, params }) => findApiKey(deps, target, params.id),
  }),
  route({
    ...remove,
    path: `${path}/:id`,
    scope,
    handle: ({ deps, target, params, principal, origin, now }) =>
      removeApiKey(deps, { target, id: params.id }, { principal, origin, now }),
  }),
]);

/** The routes of keys: create, list, show and delete, at each level. */
export const keyRoutes: readonly AnyRoute[] = [...serverKeys, ...tenantKeys];
