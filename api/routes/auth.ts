// Sessions of master, workspace and app admins.
import { keyResponse } from '../auth/keys/key-response.ts';
import { adminResponse } from '../auth/account/admin-response.ts';
import { changeMasterPassword } from '../auth/account/change-password.ts';
import { clearSessionCookies, respondWithTokens } from '../auth/sessions/cookies.ts';
import { loginAdmin } from '../auth/login/login-admin.ts';
import { loginMaster } from '../auth/login/login-master.ts';
import { logOut } from '../auth/sessions/logout.ts';
import { describeMe } from '../auth/account/me.ts';
import { wrongPassword } from '../auth/passwords/policy.ts';
import { refresh } from '../auth/sessions/refresh.ts';
import { passwordText } from '../contract/credentials.ts';
import { fail } from '../errors.ts';
import { route } from '../contract/route.ts';
import { anyOf, described, object, okResponse, optional, string } from '../contract/schema.ts';
import { userResponse } from '../auth/account/user-response.ts';
import { userSession } from './sign-in-response.ts';

/** As long as a name or an address may be; a longer one is nobody's. */
const loginName = string({ max: 320 });
const refreshToken = string({ max: 1_000 });
const session = object({ access_token: string(), refresh_token: string(), admin: adminResponse });

/** Logs a master admin in. */
export const masterLogin = route({
  method: 'POST',
  path: '/_/auth/admin/login',
  summary: 'Logs a master admin in.',
  scope: 'open',
  body: object({ username: loginName, password: passwordText }),
  status: 200,
  response: session,
  errors: ['bad_credentials'],
  handle: async (call) => {
    const { pair, admin } = await loginMaster(call.deps, call.body, call);
    return respondWithTokens(call, pair, { admin });
  },
});

/** Changes the caller's password: master admins. */
export const masterPassword = route({
  method: 'POST',
  path: '/_/auth/admin/password',
  summary: 'Changes the password of the calling master admin and ends all other sessions of that admin.',
  scope: 'master',
  key: 'never',
  body: object({ current_password: passwordText, new_password: passwordText }),
  status: 200,
  response: okResponse,
  errors: ['bad_credentials'],
  bodyErrors: wrongPassword('new_password'),
  handle: async ({ deps, principal, body, origin, now }) => {
    const { current_password: current, new_password: next } = body;
    await changeMasterPassword(deps, principal, { current, next, origin, now });
    return { ok: true };
  },
});

/** Exchanges a refresh token of any kind of principal. */
export const refreshAny = route({
  method: 'POST',
  path: '/_/auth/refresh',
  summary: 'Exchanges a refresh token, from the body or the cookie, for a new pair of tokens.',
  scope: 'open',
  refusesForeignOrigin: true,
  body: object({ refresh_token: optional(refreshToken) }),
  bodyMayBeEmpty: true,
  status: 200,
  response: anyOf(session, userSession),
  errors: ['unauthorized'],
  handle: async (call) => {
    const { deps, body, cookie, appHost, origin, now } = call;
    const token = body.refresh_token ?? cookie('rt') ?? fail('unauthorized', 'there is no refresh token');
    const isFromCookie = body.refresh_token === undefined;
    // No admin is signed in at the origin of an app.
    const accepts = appHost === undefined ? 'any' : { workspace: appHost.workspace, kind: 'user' as const };
    const { pair, who } = await refresh(deps, { token, isFromCookie, accepts, origin, now });
    return respondWithTokens(call, pair, who);
  },
});

/** Logs out. */
export const logout = route({
  method: 'POST',
  path: '/_/auth/logout',
  summary: 'Ends the session that the tokens of the request belong to, and clears both cookies.',
  scope: 'open',
  refusesForeignOrigin: true,
  body: object({
    refresh_token: described(optional(refreshToken), 'Default: the one in the cookie.'),
  }),
  bodyMayBeEmpty: true,
  status: 200,
  response: okResponse,
  handle: async ({ deps, body, cookie, bearer, appHost, overrides, origin, now }) => {
    const tokens = {
      refreshToken: body.refresh_token ?? cookie('rt'),
      accessToken: bearer() ?? cookie('at'),
    };
    await logOut(deps, tokens, { origin, now });
    clearSessionCookies({ deps, appHost, overrides });
    return { ok: true };
  },
});

/** Logs a workspace or app admin in. */
export const adminLogin = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/admin/login',
  summary: 'Logs a workspace or app admin in.',
  scope: 'open',
  body: object({
    email: loginName,
    password: passwordText,
    app: described(optional(string({ max: 40 })), 'Makes the tokens valid for this app only.'),
  }),
  status: 200,
  response: session,
  errors: ['bad_credentials', 'forbidden'],
  handle: async (call) => {
    const { deps, target, body, origin, now } = call;
    const { pair, admin } = await loginAdmin(deps, target.workspace, { ...body, origin, now });
    return respondWithTokens(call, pair, { admin });
  },
});

/** Exchanges a refresh token of a workspace or app admin. */
export const adminRefresh = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/refresh',
  summary: 'Exchanges the refresh token of a workspace or app admin for a new pair of tokens.',
  scope: 'open',
  refusesForeignOrigin: true,
  body: object({ refresh_token: refreshToken }),
  status: 200,
  response: session,
  errors: ['unauthorized'],
  handle: async (call) => {
    const { deps, params: { workspace }, body, origin, now } = call;
    const accepts = { workspace, kind: 'admin' } as const;
    const { pair, who } = await refresh(deps, { token: body.refresh_token, accepts, origin, now });
    if (!('admin' in who)) throw new Error('the session of an admin is that of a user');
    return respondWithTokens(call, pair, who);
  },
});

/** Shows the caller. */
export const me = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/auth/me',
  summary: 'Returns the admin, end-user or API key that the token belongs to.',
  scope: 'member',
  key: 'any',
  status: 200,
  response: anyOf(anyOf(adminResponse, userResponse), keyResponse),
  handle: ({ deps, principal, target }) => describeMe(deps, principal, target.workspace),
});
