// Policies of the three levels.
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { removePolicy, setPolicy } from '../policies/set.ts';
import {
  listPolicies,
  policyListResponse,
  policyPutResponse,
  policyResponse,
  showPolicy,
} from '../policies/show.ts';
import { policySpec } from '../policies/stored.ts';
import { route } from '../contract/route.ts';
import { object, okResponse } from '../contract/schema.ts';

const query = object(pageQueryMembers);

/** Lists the policies of the system, with the server's own bounds. */
export const policiesSystemList = route({
  method: 'GET',
  path: '/api/system/policies',
  summary:
    'Lists the policies of the server: the built-in ones, and all others that the master admin has set.',
  scope: 'master',
  key: 'policies:read',
  query,
  status: 200,
  response: policyListResponse,
  handle: ({ deps, query }) => listPolicies(deps, {}, toPageRequest(query)),
});

/** Shows one of these; every admin may know the bounds that hold for them. */
export const policiesSystemShow = route({
  method: 'GET',
  path: '/api/system/policies/:field',
  summary: 'Returns a policy of the server.',
  scope: 'admin',
  key: 'policies:read',
  status: 200,
  response: policyResponse,
  handle: ({ deps, params: { field } }) => showPolicy(deps, {}, field),
});

/** Sets a bound for everybody. */
export const policiesSystemPut = route({
  method: 'PUT',
  path: '/api/system/policies/:field',
  summary: 'Sets a policy of the server and clamps values of workspaces and apps that lie outside it.',
  scope: 'master',
  key: 'policies:write',
  body: policySpec,
  status: 200,
  response: policyPutResponse,
  handle: ({ deps, params: { field }, body, principal, origin, now }) =>
    setPolicy(deps, {}, body, { field, caller: { principal, origin, now } }),
});

/** Puts the server's own bound back. */
export const policiesSystemRemove = route({
  method: 'DELETE',
  path: '/api/system/policies/:field',
  summary: 'Removes a policy of the server. The built-in limit, if there is one, is in effect again.',
  scope: 'master',
  key: 'policies:write',
  status: 200,
  response: okResponse,
  handle: ({ deps, params: { field }, principal, origin, now }) =>
    removePolicy(deps, {}, { field, caller: { principal, origin, now } }),
});

/** Lists the effective policies of a workspace. */
export const policiesWorkspaceList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/policies',
  summary: 'Lists the policies of a workspace, with the limits in effect there.',
  scope: 'workspace_admin',
  key: 'policies:read',
  query,
  status: 200,
  response: policyListResponse,
  handle: ({ deps, target, query }) =>
    listPolicies(deps, { workspace: target.workspace.id }, toPageRequest(query)),
});

/** Shows one of these. */
export const policiesWorkspaceShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/policies/:field',
  summary: 'Returns a policy of a workspace.',
  scope: 'realm',
  key: 'policies:read',
  status: 200,
  response: policyResponse,
  handle: ({ deps, target, params: { field } }) =>
    showPolicy(deps, { workspace: target.workspace.id }, field),
});

/** Sets a bound for the workspace. */
export const policiesWorkspacePut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/policies/:field',
  summary:
    'Sets a policy of a workspace, within that of the server, and clamps values of apps that lie outside it.',
  scope: 'workspace_admin',
  key: 'policies:write',
  body: policySpec,
  status: 200,
  response: policyPutResponse,
  errors: ['policy_violation'],
  handle: ({ deps, target: { workspace }, params: { field }, body, principal, origin, now }) =>
    setPolicy(deps, { workspace }, body, { field, caller: { principal, origin, now } }),
});

/** Puts the bound above back. */
export const policiesWorkspaceRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/policies/:field',
  summary: 'Removes a policy of a workspace. The limit of the level above is in effect again.',
  scope: 'workspace_admin',
  key: 'policies:write',
  status: 200,
  response: okResponse,
  handle: ({ deps, target: { workspace }, params: { field }, principal, origin, now }) =>
    removePolicy(deps, { workspace }, { field, caller: { principal, origin, now } }),
});

/** Lists the effective policies of an app. */
export const policiesAppList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/policies',
  summary: 'Lists the policies of an app, with the limits in effect there.',
  scope: 'app_admin',
  key: 'policies:read',
  query,
  status: 200,
  response: policyListResponse,
  handle: ({ deps, target: { workspace, app }, query }) =>
    listPolicies(deps, { workspace: workspace.id, app: app.id }, toPageRequest(query)),
});

/** Shows one of these. */
export const policiesAppShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/policies/:field',
  summary: 'Returns a policy of an app.',
  scope: 'app_admin',
  key: 'policies:read',
  status: 200,
  response: policyResponse,
  handle: ({ deps, target: { workspace, app }, params: { field } }) =>
    showPolicy(deps, { workspace: workspace.id, app: app.id }, field),
});

/** Sets a bound for the app. */
export const policiesAppPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/apps/:app/policies/:field',
  summary: 'Sets a policy of an app, within those of the workspace and the server.',
  scope: 'app_admin',
  key: 'policies:write',
  body: policySpec,
  status: 200,
  response: policyPutResponse,
  errors: ['policy_violation'],
  handle: ({ deps, target: { app }, params: { field }, body, principal, origin, now }) =>
    setPolicy(deps, { app }, body, { field, caller: { principal, origin, now } }),
});

/** Puts the bound above back. */
export const policiesAppRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app/policies/:field',
  summary: 'Removes a policy of an app. The limit of the level above is in effect again.',
  scope: 'app_admin',
  key: 'policies:write',
  status: 200,
  response: okResponse,
  handle: ({ deps, target: { app }, params: { field }, principal, origin, now }) =>
    removePolicy(deps, { app }, { field, caller: { principal, origin, now } }),
});
