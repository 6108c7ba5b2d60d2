// How much workspaces and apps hold and are used.
import { route } from '../contract/route.ts';
import { appUsage, usageResponse, workspaceUsage } from '../usage/show.ts';

/** Shows the usage of a workspace. */
export const usageWorkspace = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/usage',
  summary: 'Returns what a workspace stores, and how much its apps were used in the last 24 hours.',
  scope: 'workspace_admin',
  key: 'usage:read',
  status: 200,
  response: usageResponse,
  handle: ({ deps, target: { workspace } }) => workspaceUsage(deps, workspace),
});

/** Shows the usage of an app. */
export const usageApp = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app/usage',
  summary: 'Returns what an app stores, and how much it was used in the last 24 hours.',
  scope: 'app_admin',
  key: 'usage:read',
  status: 200,
  response: usageResponse,
  handle: ({ deps, target: { app } }) => appUsage(deps, app),
});
