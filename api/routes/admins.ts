// Workspace and app admins, managed by the master.
import { createAdmin } from '../admins/create.ts';
import { requireAdmin } from '../admins/find.ts';
import { adminApps, adminName } from '../admins/input.ts';
import { listAdmins } from '../admins/list.ts';
import { removeAdmin } from '../admins/remove.ts';
import { adminResponse } from '../auth/account/admin-response.ts';
import { changeAdmin } from '../admins/update.ts';
import { wrongPassword } from '../auth/passwords/policy.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, object, okResponse, oneOf, optional, pageSchema, string } from '../contract/schema.ts';

const appsNote = 'The apps of an app admin. Empty: an admin of the whole workspace.';
const uuid = string({
  pattern: /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/,
  hint: 'must be a UUID',
  format: 'uuid',
});

/** Creates an admin. */
export const adminsCreate = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/admins',
  summary: 'Creates a workspace admin or an app admin.',
  scope: 'master',
  key: 'never',
  body: object({
    id: optional(uuid),
    email: emailText,
    password: passwordText,
    name: optional(adminName),
    app_ids: described(adminApps, appsNote),
  }),
  status: 201,
  response: adminResponse,
  errors: ['conflict'],
  bodyErrors: wrongPassword('password'),
  handle: ({ deps, target, body, principal, origin, now }) =>
    createAdmin(deps, target.workspace, { ...body, principal, origin, now }),
});

/** Lists the admins of a workspace. */
export const adminsList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/admins',
  summary: 'Lists the workspace admins and app admins of a workspace.',
  scope: 'master',
  key: 'never',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(adminResponse),
  handle: ({ deps, target, query }) => listAdmins(deps, target.workspace, toPageRequest(query)),
});

/** Changes an admin. */
export const adminsUpdate = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace/admins/:id',
  summary: 'Changes an admin. Existing tokens follow the change from their next request on.',
  scope: 'master',
  key: 'never',
  body: object({
    email: optional(emailText),
    password: optional(passwordText),
    name: optional(adminName),
    app_ids: described(
      optional(adminApps),
      `${appsNote} An app admin without any app stays one, unless \`role\` says otherwise.`,
    ),
    role: described(
      optional(oneOf(['workspace_admin', 'app_admin'])),
      'Default: that which `app_ids` says. A workspace admin has no apps.',
    ),
  }),
  status: 200,
  response: adminResponse,
  errors: ['conflict'],
  bodyErrors: wrongPassword('password'),
  requireTarget: ({ deps, target, params: { id } }) => requireAdmin(deps, target.workspace, id),
  handle: ({ deps, params, target, body, principal, origin, now }) =>
    changeAdmin(deps, { workspace: target.workspace, id: params.id }, {
      patch: body,
      principal,
      origin,
      now,
    }),
});

/** Removes an admin. */
export const adminsRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/admins/:id',
  summary: 'Deletes an admin and revokes all tokens of that admin at once.',
  scope: 'master',
  key: 'never',
  status: 200,
  response: okResponse,
  handle: async ({ deps, params, target, principal, origin, now }) => {
    await removeAdmin(deps, { workspace: target.workspace, id: params.id }, { principal, origin, now });
    return { ok: true };
  },
});
