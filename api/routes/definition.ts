// The definition of an app as one document.
import { taggedResponse } from '../app-description/tagged.ts';
import { mayWithKey } from '../contract/key-scopes.ts';
import { route } from '../contract/route.ts';
import { documentResponse, visibleTo } from '../definition/document.ts';
import { readDefinition } from '../definition/read.ts';

/** Shows the definition. */
const definitionShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/definition',
  summary:
    'Returns the definition of an app: collections, indexes, access rules, policies, hook files, and names of variables.',
  scope: 'app_admin',
  key: 'definition:read',
  headers: { 'If-None-Match': 'The `ETag` that the client already has.' },
  status: 200,
  response: documentResponse,
  rawStatuses: { 304: 'The client has this definition already.' },
  errors: ['conflict'],
  handle: async ({ deps, target, principal, params }) => {
    const document = await readDefinition(deps, target.app);
    const visible = visibleTo(document, (scope) => mayWithKey(principal, scope, params));
    return taggedResponse(JSON.stringify(visible), 'application/json; charset=utf-8');
  },
});

/** The routes of the definition. */
export const definitionRoutes = [definitionShow];
