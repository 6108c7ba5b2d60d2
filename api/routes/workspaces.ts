// Workspaces.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { tenantIdPattern } from '../../storage/sql/ids.ts';
import type { Caller } from '../audit/actor.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import {
  described,
  integer,
  nullable,
  object,
  okResponse,
  optional,
  pageSchema,
  string,
  timestamp,
} from '../contract/schema.ts';
import { cloneWorkspace } from '../workspaces/clones/clone.ts';
import { resetWorkspace } from '../workspaces/clones/reset.ts';
import { createWorkspace } from '../workspaces/create.ts';
import { maxTtlSeconds } from '../workspaces/expiry.ts';
import { listWorkspaces } from '../workspaces/list.ts';
import { removeWorkspace } from '../workspaces/remove.ts';
import { updateWorkspace } from '../workspaces/update.ts';

/** The id of a workspace or app, as a body gives it. */
export const tenantId = string({
  pattern: tenantIdPattern,
  hint: 'must be 1 to 40 characters of a-z, 0-9, _ and -, the first a letter or digit',
});
/** A workspace's or app's name. */
export const tenantName = string({ min: 1, max: 200 });

const ttl = integer({ min: 1, max: maxTtlSeconds });

const workspace = object({
  id: string(),
  name: string(),
  created_at: timestamp(),
  updated_at: timestamp(),
  expires_at: described(
    optional(timestamp()),
    'When the workspace is deleted; absent for one that stays.',
  ),
  from: described(
    optional(string()),
    'The id of the workspace that this one was cloned from; only for clones.',
  ),
});

function shown({ id, name, created_at, updated_at, expires_at, source }: WorkspaceDefinition) {
  return {
    id,
    name,
    created_at,
    updated_at,
    ...expires_at ? { expires_at } : {},
    ...source ? { from: source } : {},
  };
}

/** Lists the workspaces that the caller may see. */
export const workspacesList = route({
  method: 'GET',
  path: '/api/workspaces',
  summary: 'Lists workspaces: all of them for the master admin, their own for other admins.',
  scope: 'admin',
  key: 'workspaces:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(workspace),
  handle: async ({ deps, principal, query }) => {
    const page = await listWorkspaces(deps, principal, toPageRequest(query));
    return { ...page, items: page.items.map(shown) };
  },
});

/** Creates a workspace. */
export const workspacesCreate = route({
  method: 'POST',
  path: '/api/workspaces',
  summary: 'Creates a workspace, empty or as a clone of another one.',
  scope: 'master',
  key: 'workspaces:write',
  body: object({
    id: optional(tenantId),
    name: tenantName,
    ttl_sec: described(optional(ttl), 'Seconds after which the workspace is deleted; without it, it stays.'),
    from: described(optional(tenantId), 'The id of a workspace to clone, with all that it holds.'),
  }),
  needsDisk: true,
  status: 201,
  response: workspace,
  errors: ['conflict'],
  handle: async ({ deps, body, principal, origin, now }) => {
    const { from } = body;
    if (from !== undefined) {
      return shown(await cloneWorkspace(deps, { ...body, from }, { principal, origin, now }));
    }
    const created = await createWorkspace(deps, body, { principal, origin, now });
    await deps.databaseSettings.apply(created);
    return shown(created);
  },
});

/** Shows a workspace. */
export const workspacesShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace',
  summary: 'Returns a workspace.',
  scope: 'realm',
  key: 'workspaces:read',
  status: 200,
  response: workspace,
  handle: ({ target }) => shown(target.workspace),
});

/** Changes a workspace. */
export const workspacesUpdate = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace',
  summary: 'Renames a workspace, or changes when it is deleted.',
  scope: 'master',
  key: 'workspaces:write',
  body: object({
    name: optional(tenantName),
    ttl_sec: described(
      optional(nullable(ttl)),
      'Seconds from now after which the workspace is deleted; `null`: it stays.',
    ),
  }),
  status: 200,
  response: workspace,
  handle: async ({ deps, target, body, principal, origin, now }) => {
    const caller: Caller = { principal, origin, now };
    return shown(await updateWorkspace(deps, target.workspace, { ...body, caller }));
  },
});

/** Takes a clone back to what it was made from. */
export const workspacesReset = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/reset',
  summary: 'Takes a clone back to what it was made from. Ends all its tokens and API keys; its admins stay.',
  scope: 'master',
  key: 'workspaces:write',
  needsDisk: true,
  status: 200,
  response: workspace,
  errors: ['conflict'],
  handle: async ({ deps, target, principal, origin, now }) =>
    shown(await resetWorkspace(deps, target.workspace, { principal, origin, now })),
});

/** Deletes a workspace. */
export const workspacesRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace',
  summary: 'Deletes a workspace with all its apps, users, files, policies and audit entries.',
  scope: 'master',
  key: 'workspaces:write',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, principal, origin, now }) => {
    await removeWorkspace(deps, target.workspace, { principal, origin, now });
    return { ok: true };
  },
});
