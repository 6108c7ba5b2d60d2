// Custom routes: every method, handled by the hooks of the app.
import { join } from 'node:path';
import { type AnyRoute, type Method, RawResponse, route } from '../contract/route.ts';
import { anyValue, described } from '../contract/schema.ts';
import { servePublic } from '../files/public/serve.ts';
import { hookFolder } from '../hooks/files/folder.ts';

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** One declaration a method; HEAD follows from GET. */
export const customRoutes: readonly AnyRoute[] = methods.map((method) =>
  route({
    method,
    path: '/api/workspaces/:workspace/apps/:app/custom/**:path',
    summary: 'Runs a route that a hook file of the app registered with `routerAdd`.',
    scope: 'anyone',
    key: 'custom:call',
    status: 200,
    response: described(anyValue(), 'The response of the hook, with any status and type.'),
    contentType: '*/*',
    rawStatuses: { default: 'Any other status that the hook responds with.' },
    passesBody: method !== 'GET' && method !== 'OPTIONS',
    errors: ['deserialization', 'hook_error', 'hook_busy', 'hook_unavailable'],
    handle: ({ deps, target: { app }, principal, appHost, origin: { requestId } }) =>
      new RawResponse((writer) => {
        const { response, headers, body } = writer;
        const request = { response, headers, body, principal, requestId, appHost };
        if (method !== 'GET' || appHost === undefined) return deps.hooks.serve(app, request);
        const root = join(hookFolder(deps.config, app), 'public');
        const serveOther = (path: string) => servePublic(deps, { root, path }, writer);
        return deps.hooks.serve(app, { ...request, serveOther });
      }),
  })
);
