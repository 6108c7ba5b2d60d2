// Documents that describe an app, for the tools of those who write its clients.
import { declareClientTypes } from '../app-description/client-types.ts';
import { describeApp } from '../app-description/openapi.ts';
import { taggedResponse } from '../app-description/tagged.ts';
import { route } from '../contract/route.ts';
import { batch } from './batch.ts';
import { customRoutes } from './custom.ts';
import { collectionEvents } from './events.ts';
import { filesGet, filesLink, filesList, filesMeta, filesRemove, filesUpload } from './files.ts';
import { recordsExport, recordsImport } from './record-transfer.ts';
import {
  recordsAggregate,
  recordsCreate,
  recordsGet,
  recordsList,
  recordsRemove,
  recordsUpdate,
} from './records.ts';
import { described, fieldMap, object, oneOf, optional, string } from '../contract/schema.ts';

const tagHeaders = { 'If-None-Match': 'The `ETag` of the document that the client already has.' };
const notModified = { 304: 'The client has this document already.' };

const appRoutes = {
  reads: [recordsList, recordsAggregate, recordsGet, recordsExport, collectionEvents],
  writes: [recordsCreate, recordsUpdate, recordsRemove, recordsImport],
  others: [batch, filesUpload, filesList, filesGet, filesMeta, filesRemove, filesLink],
  custom: customRoutes,
};

/** Describes an app. */
export const appOpenApi = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/openapi.json',
  summary:
    'Returns an OpenAPI document of the app’s collections, with their fields, and of its custom routes.',
  scope: 'app_admin',
  key: 'definition:read',
  headers: tagHeaders,
  status: 200,
  response: fieldMap('An OpenAPI 3.1 document.'),
  rawStatuses: notModified,
  errors: ['hook_error', 'hook_busy', 'hook_unavailable'],
  handle: async ({ deps, target: { app } }) => {
    const document = describeApp(app, await deps.hooks.routes(app), appRoutes);
    return taggedResponse(JSON.stringify(document), 'application/json; charset=utf-8');
  },
});

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
