// End-users, managed by the admins of their workspace.
import { hookErrors } from '../hooks/errors.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { emailText } from '../contract/credentials.ts';
import {
  boolean,
  described,
  integer,
  object,
  okResponse,
  optional,
  pageSchema,
  string,
  timestamp,
} from '../contract/schema.ts';
import { inviteUser } from '../auth/email/invite.ts';
import { getUser, listUsers } from '../users/list.ts';
import { impersonateUser, maxImpersonationSeconds } from '../users/impersonate.ts';
import { removeUser } from '../users/remove.ts';
import { userResponse } from '../auth/account/user-response.ts';
import { verifyUser } from '../users/verify.ts';
import { tenantId } from './workspaces.ts';

/** Lists the users of a workspace. */
export const usersList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/users',
  summary: 'Lists the end-users of a workspace.',
  scope: 'workspace_admin',
  key: 'users:read',
  query: object({
    ...pageQueryMembers,
    q: described(optional(string({ max: 320 })), 'A part of the email, in upper or lower case.'),
  }),
  status: 200,
  response: pageSchema(userResponse),
  handle: ({ deps, target, query }) =>
    listUsers(deps, target.workspace, { part: query.q, page: toPageRequest(query) }),
});

/** Shows a user. */
export const usersShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/users/:id',
  summary: 'Returns an end-user.',
  scope: 'workspace_admin',
  key: 'users:read',
  status: 200,
  response: userResponse,
  handle: ({ deps, target, params }) => getUser(deps, target.workspace, params.id),
});

/** Mails an invitation. */
export const usersInvite = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/users/invite',
  summary:
    'Mails a token by which somebody becomes an end-user. Earlier invitations of the address become invalid.',
  scope: 'workspace_admin',
  key: 'users:write',
  body: object({ email: emailText }),
  status: 200,
  response: okResponse,
  errors: ['conflict'],
  handle: async ({ deps, target, body, principal, origin, now }) => {
    await inviteUser(deps, target.workspace, { ...body, principal, origin, now });
    return { ok: true };
  },
});

/** Marks an email as verified or not. */
export const usersVerify = route({
  method: 'PATCH',
  path: '/api/workspaces/:workspace/users/:id/verify',
  summary: 'Marks the email of an end-user as verified or not verified.',
  scope: 'workspace_admin',
  key: 'users:write',
  body: object({ verified: boolean() }),
  status: 200,
  response: userResponse,
  requireTarget: ({ deps, target, params: { id } }) => getUser(deps, target.workspace, id),
  handle: ({ deps, params, target, body, principal, origin, now }) =>
    verifyUser(deps, { workspace: target.workspace, id: params.id }, { ...body, principal, origin, now }),
});

/** Issues a token of a user to an admin. */
export const usersImpersonate = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/users/:id/impersonate',
  summary:
    'Issues a short access token of an end-user to an admin. It cannot change the account of the user.',
  scope: 'workspace_admin',
  key: 'never',
  bodyMayBeEmpty: true,
  body: object({
    ttl_sec: described(
      optional(integer({ min: 1, max: maxImpersonationSeconds })),
      'The life of the token in seconds. Default: 900.',
    ),
    app: described(
      optional(tenantId),
      'The only app that the token is valid for. Default: all of the workspace.',
    ),
  }),
  status: 201,
  response: object({ access_token: string(), expires_at: timestamp() }),
  errors: ['app_not_found'],
  requireTarget: ({ deps, target, params: { id } }) => getUser(deps, target.workspace, id),
  handle: ({ deps, params, target, body, principal, origin, now }) =>
    impersonateUser(deps, { workspace: target.workspace, id: params.id }, {
      ...body,
      principal,
      origin,
      now,
    }),
});

/** Removes a user. */
export const usersRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/users/:id',
  summary: 'Deletes an end-user and revokes all tokens of that user at once.',
  scope: 'workspace_admin',
  key: 'users:write',
  status: 200,
  response: okResponse,
  errors: ['conflict', ...hookErrors],
  handle: async ({ deps, params, target, principal, origin, now }) => {
    await removeUser(deps, { workspace: target.workspace, id: params.id }, { principal, origin, now });
    return { ok: true };
  },
});
