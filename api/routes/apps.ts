// Apps of a workspace.
import { createApp } from '../apps/create.ts';
import { listApps } from '../apps/list.ts';
import { removeApp } from '../apps/remove.ts';
import { renameApp } from '../apps/rename.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { object, okResponse, optional, pageSchema, string, timestamp } from '../contract/schema.ts';
import { tenantId, tenantName } from './workspaces.ts';

const app = object({
  id: string(),
  workspace: string(),
  name: string(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

interface Shown {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
}

function shown(workspace: string, { id, name, created_at, updated_at }: Shown) {
  return { id, workspace, name, created_at, updated_at };
}

/** Lists the apps that the caller may see. */
export const appsList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps',
  summary: 'Lists the apps of a workspace. App admins see only their own.',
  scope: 'realm',
  key: 'apps:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(app),
  handle: async ({ deps, target: { workspace }, principal, query }) => {
    const page = await listApps(deps, workspace, { principal, page: toPageRequest(query) });
    return { ...page, items: page.items.map((item) => shown(workspace.id, item)) };
  },
});

/** Creates an app. */
export const appsCreate = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/apps',
  summary: 'Creates an app.',
  scope: 'workspace_admin',
  key: 'apps:write',
  body: object({ id: optional(tenantId), name: tenantName }),
  needsDisk: true,
  status: 201,
  response: app,
  errors: ['quota_exceeded', 'conflict'],
  handle: async ({ deps, target: { workspace }, body, principal, origin, now }) =>
    shown(workspace.id, await createApp(deps, workspace, { ...body, caller: { principal, origin, now } })),
});

/** Shows an app. */
export const appsShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/apps/:app',
  summary: 'Returns an app.',
  scope: 'realm',
  key: 'apps:read',
  status: 200,
  response: app,
  handle: ({ target }) => shown(target.workspace.id, target.app),
});

/** Renames an app. */
export const appsRename = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace/apps/:app',
  summary: 'Renames an app.',
  scope: 'workspace_admin',
  key: 'apps:write',
  body: object({ name: tenantName }),
  status: 200,
  response: app,
  handle: async ({ deps, target, body: { name }, principal, origin, now }) =>
    shown(
      target.workspace.id,
      await renameApp(deps, target.app, { name, caller: { principal, origin, now } }),
    ),
});

/** Deletes an app. */
export const appsRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/apps/:app',
  summary: 'Deletes an app with everything in it.',
  scope: 'workspace_admin',
  key: 'apps:write',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, principal, origin, now }) => {
    await removeApp(deps, target.app, { principal, origin, now });
    return { ok: true };
  },
});
