// Documents that describe an app, for the tools of those who write its clients.
import { declareClientTypes } from '../app-description/client-types.ts';
import { taggedResponse } from '../app-description/tagged.ts';
import { route } from '../contract/route.ts';
import { described, object, oneOf, optional, string } from '../contract/schema.ts';

const tagHeaders = { 'If-None-Match': 'The `ETag` of the document that the client already has.' };
const notModified = { 304: 'The client has this document already.' };

/** Declares the types of an app. */
export const typesShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/types.d.ts',
  summary: 'Returns a TypeScript module with the types of the app’s records, relations and custom routes.',
  scope: 'app_admin',
  key: 'definition:read',
  query: object({
    for: described(optional(oneOf(['client'])), 'Who the types are for; default `client`.'),
  }),
  headers: tagHeaders,
  status: 200,
  contentType: 'text/plain; charset=utf-8',
  response: string(),
  rawStatuses: notModified,
  errors: ['hook_error', 'hook_busy', 'hook_unavailable'],
  handle: async ({ deps, target: { app } }) =>
    taggedResponse(declareClientTypes(app, await deps.hooks.routes(app)), 'text/plain; charset=utf-8'),
});
