// Routes of an end-user's own account: sessions, password, email address, deletion.
import { changeOwnPassword } from '../auth/account/change-own-password.ts';
import { confirmEmailChange, requestEmailChange } from '../auth/email/email-change.ts';
import {
  endOwnSession,
  endOwnSessions,
  listOwnSessions,
  ownSessionResponse,
} from '../auth/sessions/own-sessions.ts';
import { wrongPassword } from '../auth/passwords/policy.ts';
import { clearSessionCookies, respondWithTokens } from '../auth/sessions/cookies.ts';
import { hookErrors } from '../hooks/errors.ts';
import { removeSelf } from '../users/remove-self.ts';
import { emailText, passwordText } from '../contract/credentials.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, object, okResponse, optional, pageSchema, string } from '../contract/schema.ts';
import { userSession } from './sign-in-response.ts';

/** Lists the user's logins. */
export const sessionsList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/auth/sessions',
  summary:
    'Lists the sessions of the calling end-user: where and when each began, and when it was last used.',
  scope: 'user',
  key: 'never',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(ownSessionResponse),
  handle: ({ deps, target, principal, query, now }) =>
    listOwnSessions(deps, target.workspace, { principal, page: toPageRequest(query), now }),
});

/** Ends all of them. */
export const sessionsEndAll = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/auth/sessions',
  summary: 'Ends all sessions of the calling end-user, including the current one.',
  scope: 'user',
  key: 'never',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, principal, origin, now }) => {
    await endOwnSessions(deps, target.workspace, { principal, origin, now });
    return { ok: true };
  },
});

/** Ends one of them. */
export const sessionsEnd = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/auth/sessions/:id',
  summary: 'Ends one session of the calling end-user.',
  scope: 'user',
  key: 'never',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, params, principal, origin, now }) => {
    await endOwnSession(deps, target.workspace, { id: params.id, principal, origin, now });
    return { ok: true };
  },
});

/** Changes the caller's password: end-users. */
export const passwordChange = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/password',
  summary:
    'Changes the password of the calling end-user, ends all sessions, and returns new tokens for this client.',
  scope: 'user',
  key: 'never',
  body: object({ current_password: passwordText, new_password: passwordText }),
  status: 200,
  response: userSession,
  errors: ['bad_credentials', 'conflict'],
  bodyErrors: wrongPassword('new_password'),
  handle: async (call) => {
    const { deps, target, principal, body, origin, now } = call;
    const { current_password: current, new_password: next } = body;
    const change = { current, next, principal, origin, now };
    const { pair, user } = await changeOwnPassword(deps, target.workspace, change);
    return respondWithTokens(call, pair, { user });
  },
});

/** Mails a token to the address that is to be the user's. */
export const emailChangeRequest = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/email-change/request',
  summary: 'Mails a token to the new address of the calling end-user.',
  scope: 'user',
  key: 'never',
  body: object({ new_email: emailText, password: passwordText }),
  status: 200,
  response: okResponse,
  errors: ['bad_credentials'],
  handle: async ({ deps, target, principal, body, origin, now }) => {
    const { new_email: email, password } = body;
    await requestEmailChange(deps, target.workspace, { email, password, principal, origin, now });
    return { ok: true };
  },
});

/** Changes the address, by that token. */
export const emailChangeConfirm = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/email-change/confirm',
  summary:
    'Accepts a mailed token and changes the calling end-user’s address to the one that it was mailed to.',
  scope: 'user',
  key: 'never',
  body: object({ token: string({ max: 200 }) }),
  status: 200,
  response: okResponse,
  errors: ['conflict'],
  handle: async ({ deps, target, body, principal, origin, now }) => {
    await confirmEmailChange(deps, target.workspace, { ...body, principal, origin, now });
    return { ok: true };
  },
});

/** Deletes the caller: end-users. */
export const meRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/auth/me',
  summary:
    'Deletes the calling end-user and revokes all its tokens, where policy `auth.self_delete` allows it.',
  scope: 'user',
  key: 'never',
  body: object({
    password: described(optional(passwordText), 'May be left out in the first 10 minutes after a sign-in.'),
  }),
  bodyMayBeEmpty: true,
  status: 200,
  response: okResponse,
  errors: ['bad_credentials', 'conflict', ...hookErrors],
  handle: async ({ deps, target, principal, body, appHost, overrides, origin, now }) => {
    await removeSelf(deps, target.workspace, { ...body, principal, origin, now });
    clearSessionCookies({ deps, appHost, overrides });
    return { ok: true };
  },
});
