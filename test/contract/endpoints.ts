// The interface as a table of its own, written from the specification and not from the code.

/** Who may call an endpoint, in the words of the specification. */
export type Who =
  | 'open' // anyone, and a token makes no difference
  | 'anyone' // also without a token, but not with one that is bad or of another workspace
  | 'anyone at the app' // the same, and not with a token that is bound to other apps
  | 'master' // the master admin
  | 'admin' // any admin of anything
  | 'realm' // the master, and every admin of the workspace
  | 'workspace admin' // that admin or above
  | 'app admin' // that admin or above
  | 'end-user' // an end-user of the workspace
  | 'signed in' // whoever has a token of the workspace
  | 'signed in at the app'; // the same, and not with a token that is bound to other apps

/** One endpoint. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  path: string;
  who: Who;
  /** Status of a success. */
  status: 101 | 200 | 201;
  /** A body that gets past the gate and is then refused, so that asking changes nothing. */
  body?: unknown;
  /** Sends a form in the place of JSON. */
  form?: true;
}

const workspace = '/api/workspaces/:workspace';
const auth = `${workspace}/auth`;
const app = `${workspace}/apps/:app`;
const records = `${app}/collections/:coll/records`;

/** What the interface lists and is built. */
export const specified: readonly Endpoint[] = [
  { method: 'GET', path: '/healthz', who: 'open', status: 200 },
  { method: 'POST', path: '/_/setup', who: 'open', status: 201, body: {} },

  { method: 'POST', path: '/_/auth/admin/login', who: 'open', status: 200, body: {} },
  { method: 'POST', path: '/_/auth/refresh', who: 'open', status: 200, body: { refresh_token: 5 } },
  { method: 'POST', path: '/_/auth/logout', who: 'open', status: 200 },
  { method: 'GET', path: '/.well-known/jwks.json', who: 'open', status: 200 },
  { method: 'GET', path: '/_/auth/jwks.json', who: 'open', status: 200 },

  { method: 'POST', path: `${workspace}/auth/admin/login`, who: 'open', status: 200, body: {} },
  { method: 'POST', path: `${workspace}/auth/refresh`, who: 'open', status: 200, body: {} },
  { method: 'POST', path: `${workspace}/admins`, who: 'master', status: 201, body: {} },

  { method: 'POST', path: `${auth}/users/register`, who: 'anyone', status: 201, body: {} },
  { method: 'POST', path: `${auth}/users/login`, who: 'open', status: 200, body: {} },
  { method: 'POST', path: `${auth}/users/refresh`, who: 'open', status: 200, body: {} },
  { method: 'POST', path: `${auth}/verify-email/request`, who: 'end-user', status: 200 },
  { method: 'POST', path: `${auth}/verify-email/confirm`, who: 'anyone', status: 200, body: {} },
  { method: 'POST', path: `${auth}/password-reset/request`, who: 'anyone', status: 200, body: {} },
  { method: 'POST', path: `${auth}/password-reset/confirm`, who: 'anyone', status: 200, body: {} },
  { method: 'POST', path: `${auth}/otp/request`, who: 'anyone', status: 200, body: {} },
  { method: 'POST', path: `${auth}/otp/login`, who: 'anyone', status: 200, body: {} },

  { method: 'POST', path: `${auth}/users/login/totp`, who: 'open', status: 200, body: {} },
  { method: 'POST', path: `${auth}/totp/enroll`, who: 'end-user', status: 200 },
  { method: 'POST', path: `${auth}/totp/confirm`, who: 'end-user', status: 200, body: {} },
  { method: 'POST', path: `${auth}/totp/disable`, who: 'end-user', status: 200, body: {} },
  { method: 'DELETE', path: `${workspace}/users/:id/totp`, who: 'workspace admin', status: 200 },

  { method: 'GET', path: `${auth}/oauth/:provider/authorize`, who: 'anyone', status: 200 },
  { method: 'POST', path: `${auth}/oauth/:provider/callback`, who: 'anyone', status: 200, body: {} },
  { method: 'GET', path: `${auth}/oauth/providers`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${auth}/oauth/providers/:provider`, who: 'workspace admin', status: 200 },
  { method: 'PUT', path: `${auth}/oauth/providers/:provider`, who: 'workspace admin', status: 200, body: {} },
  { method: 'DELETE', path: `${auth}/oauth/providers/:provider`, who: 'workspace admin', status: 200 },

  { method: 'GET', path: `${workspace}/users`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${workspace}/users/:id`, who: 'workspace admin', status: 200 },
  { method: 'PATCH', path: `${workspace}/users/:id/verify`, who: 'workspace admin', status: 200, body: {} },
  { method: 'DELETE', path: `${workspace}/users/:id`, who: 'workspace admin', status: 200 },

  { method: 'GET', path: '/api/workspaces', who: 'admin', status: 200 },
  { method: 'POST', path: '/api/workspaces', who: 'master', status: 201, body: {} },
  { method: 'GET', path: workspace, who: 'realm', status: 200 },
  { method: 'PATCH', path: workspace, who: 'master', status: 200, body: { name: 5 } },
  { method: 'DELETE', path: workspace, who: 'master', status: 200 },

  { method: 'GET', path: `${workspace}/apps`, who: 'realm', status: 200 },
  { method: 'POST', path: `${workspace}/apps`, who: 'workspace admin', status: 201, body: {} },
  { method: 'GET', path: app, who: 'app admin', status: 200 },
  { method: 'PATCH', path: app, who: 'workspace admin', status: 200, body: { name: 5 } },
  { method: 'DELETE', path: app, who: 'workspace admin', status: 200 },

  { method: 'GET', path: `${app}/collections`, who: 'app admin', status: 200 },
  { method: 'POST', path: `${app}/collections`, who: 'app admin', status: 201, body: {} },
  { method: 'GET', path: `${app}/collections/:name`, who: 'app admin', status: 200 },
  { method: 'PATCH', path: `${app}/collections/:name`, who: 'app admin', status: 200, body: {} },
  { method: 'DELETE', path: `${app}/collections/:name`, who: 'app admin', status: 200 },

  { method: 'GET', path: `${app}/collections/:coll/access_rules`, who: 'app admin', status: 200 },
  {
    method: 'PUT',
    path: `${app}/collections/:coll/access_rules/:action`,
    who: 'app admin',
    status: 200,
    body: {},
  },
  { method: 'DELETE', path: `${app}/collections/:coll/access_rules/:action`, who: 'app admin', status: 200 },

  // By the default rule, which a new collection has for every action.
  { method: 'GET', path: records, who: 'app admin', status: 200 },
  { method: 'POST', path: records, who: 'app admin', status: 201, body: { nope: 1 } },
  { method: 'GET', path: `${records}/:id`, who: 'app admin', status: 200 },
  { method: 'PATCH', path: `${records}/:id`, who: 'app admin', status: 200, body: { nope: 1 } },
  { method: 'DELETE', path: `${records}/:id`, who: 'app admin', status: 200 },

  { method: 'GET', path: `${app}/collections/:coll/events`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/realtime`, who: 'anyone at the app', status: 101 },

  // An upload that is refused behind the gate, since it says that it is a form.
  { method: 'POST', path: `${app}/files`, who: 'signed in at the app', status: 201, form: true },
  { method: 'GET', path: `${app}/files`, who: 'signed in at the app', status: 200 },
  // Also for anyone without a token, of files that public records hold; there are none here.
  { method: 'GET', path: `${app}/files/:id`, who: 'signed in at the app', status: 200 },
  { method: 'GET', path: `${app}/files/:id/meta`, who: 'signed in at the app', status: 200 },
  { method: 'DELETE', path: `${app}/files/:id`, who: 'signed in at the app', status: 200 },

  { method: 'GET', path: '/api/system/policies', who: 'master', status: 200 },
  { method: 'GET', path: '/api/system/policies/:field', who: 'admin', status: 200 },
  { method: 'PUT', path: '/api/system/policies/:field', who: 'master', status: 200, body: {} },
  { method: 'DELETE', path: '/api/system/policies/:field', who: 'master', status: 200 },
  { method: 'GET', path: `${workspace}/policies`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${workspace}/policies/:field`, who: 'realm', status: 200 },
  { method: 'PUT', path: `${workspace}/policies/:field`, who: 'workspace admin', status: 200, body: {} },
  { method: 'DELETE', path: `${workspace}/policies/:field`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${app}/policies`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/policies/:field`, who: 'app admin', status: 200 },
  { method: 'PUT', path: `${app}/policies/:field`, who: 'app admin', status: 200, body: {} },
  { method: 'DELETE', path: `${app}/policies/:field`, who: 'app admin', status: 200 },

  { method: 'GET', path: '/api/system/audit', who: 'master', status: 200 },
  { method: 'GET', path: `${workspace}/audit`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${app}/audit`, who: 'app admin', status: 200 },

  { method: 'GET', path: `${app}/hooks`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/hooks/:filename`, who: 'app admin', status: 200 },
  { method: 'PUT', path: `${app}/hooks/:filename`, who: 'app admin', status: 200, body: {} },
  { method: 'DELETE', path: `${app}/hooks/:filename`, who: 'app admin', status: 200 },
  { method: 'POST', path: `${app}/hooks/reload`, who: 'app admin', status: 200, body: { nope: 1 } },
  // Answered 404: no hook has registered the route.
  { method: 'GET', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200 },
  { method: 'POST', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200, body: {} },
  { method: 'PUT', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200, body: {} },
  { method: 'PATCH', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200, body: {} },
  { method: 'DELETE', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200 },
  { method: 'OPTIONS', path: `${app}/custom/:path`, who: 'anyone at the app', status: 200 },
];

/** What operators need besides, and the description of it all. */
export const additions: readonly Endpoint[] = [
  { method: 'GET', path: '/readyz', who: 'open', status: 200 },
  { method: 'GET', path: '/_/openapi.json', who: 'open', status: 200 },
  { method: 'POST', path: '/_/auth/admin/password', who: 'master', status: 200, body: {} },
  { method: 'GET', path: `${workspace}/auth/me`, who: 'signed in', status: 200 },
  { method: 'GET', path: `${auth}/sessions`, who: 'end-user', status: 200 },
  { method: 'DELETE', path: `${auth}/sessions`, who: 'end-user', status: 200 },
  { method: 'DELETE', path: `${auth}/sessions/:id`, who: 'end-user', status: 200 },
  { method: 'POST', path: `${auth}/password`, who: 'end-user', status: 200, body: {} },
  { method: 'DELETE', path: `${auth}/me`, who: 'end-user', status: 200, body: { password: 5 } },
  {
    method: 'POST',
    path: `${workspace}/users/:id/impersonate`,
    who: 'workspace admin',
    status: 201,
    body: { ttl_sec: 0 },
  },
  { method: 'POST', path: '/api/keys', who: 'master', status: 201, body: {} },
  { method: 'GET', path: '/api/keys', who: 'master', status: 200 },
  { method: 'GET', path: '/api/keys/:id', who: 'master', status: 200 },
  { method: 'DELETE', path: '/api/keys/:id', who: 'master', status: 200 },
  { method: 'POST', path: `${workspace}/keys`, who: 'workspace admin', status: 201, body: {} },
  { method: 'GET', path: `${workspace}/keys`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${workspace}/keys/:id`, who: 'workspace admin', status: 200 },
  { method: 'DELETE', path: `${workspace}/keys/:id`, who: 'workspace admin', status: 200 },
  { method: 'POST', path: `${app}/keys`, who: 'app admin', status: 201, body: {} },
  { method: 'GET', path: `${app}/keys`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/keys/:id`, who: 'app admin', status: 200 },
  { method: 'DELETE', path: `${app}/keys/:id`, who: 'app admin', status: 200 },
  { method: 'POST', path: `${workspace}/users/invite`, who: 'workspace admin', status: 200, body: {} },
  { method: 'POST', path: `${auth}/invite/confirm`, who: 'anyone', status: 201, body: {} },
  { method: 'POST', path: `${auth}/email-change/request`, who: 'end-user', status: 200, body: {} },
  { method: 'POST', path: `${auth}/email-change/confirm`, who: 'end-user', status: 200, body: {} },
  { method: 'POST', path: `${app}/files/:id/link`, who: 'signed in at the app', status: 201, body: {} },
  { method: 'GET', path: `${app}/files/:id/shared`, who: 'open', status: 200 },
  { method: 'GET', path: `${workspace}/admins`, who: 'master', status: 200 },
  { method: 'PATCH', path: `${workspace}/admins/:id`, who: 'master', status: 200, body: { name: 5 } },
  { method: 'DELETE', path: `${workspace}/admins/:id`, who: 'master', status: 200 },
  {
    method: 'POST',
    path: `${app}/batch`,
    who: 'app admin',
    status: 200,
    body: { requests: [{ method: 'POST', collection: 'orders', body: { nope: 1 } }] },
  },
  { method: 'GET', path: `${records}/aggregate`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${records}/export`, who: 'app admin', status: 200 },
  // An import that is refused behind the gate, since it says that it is JSON.
  { method: 'POST', path: `${records}/import`, who: 'app admin', status: 200, body: {} },
  { method: 'GET', path: `${workspace}/origins`, who: 'workspace admin', status: 200 },
  { method: 'PUT', path: `${workspace}/origins`, who: 'workspace admin', status: 200, body: {} },
  { method: 'GET', path: `${app}/definition`, who: 'app admin', status: 200 },
  { method: 'POST', path: `${workspace}/reset`, who: 'master', status: 200 },
  { method: 'GET', path: `${workspace}/outbox`, who: 'master', status: 200 },
  { method: 'GET', path: `${workspace}/usage`, who: 'workspace admin', status: 200 },
  { method: 'GET', path: `${app}/usage`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/openapi.json`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/types.d.ts`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/hooks/env`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/hooks/env/:variable`, who: 'app admin', status: 200 },
  { method: 'PUT', path: `${app}/hooks/env/:variable`, who: 'app admin', status: 200, body: {} },
  { method: 'DELETE', path: `${app}/hooks/env/:variable`, who: 'app admin', status: 200 },
  { method: 'POST', path: `${app}/hooks/jobs/:name/run`, who: 'app admin', status: 200, body: { nope: 1 } },
  { method: 'GET', path: `${app}/hooks/logs`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/hooks/status`, who: 'app admin', status: 200 },
  { method: 'GET', path: `${app}/hooks/types`, who: 'app admin', status: 200 },
];

/** Method and path, whatever the path's parameters are called. */
export function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replaceAll(/(?:\*\*)?:[a-z]+/g, ':')}`;
}
