// The definition of an app as one document.
import { RawResponse, route } from '../contract/route.ts';
import { documentResponse, visibleTo } from '../definition/document.ts';
import { readDefinition } from '../definition/read.ts';
import { definitionTag } from '../definition/tag.ts';
import { mayWithKey } from '../contract/key-scopes.ts';
import { matchesTag } from '../files/byte-range.ts';
import { writeHead } from '../http/response-headers.ts';

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
  handle: async ({ deps, target, principal, params, header, overrides }) => {
    const document = await readDefinition(deps, target.app);
    const tag = definitionTag(document);
    if (matchesTag(header('if-none-match'), tag)) {
      return new RawResponse(async ({ response, headers }) => {
        writeHead(response, 304, [...headers, ['ETag', tag]]).end();
      });
    }
    overrides.headers.push(['ETag', tag], ['Cache-Control', 'private, no-cache']);
    return visibleTo(document, (scope) => mayWithKey(principal, scope, params));
  },
});

/** The routes of the definition. */
export const definitionRoutes = [definitionShow];
