// Signing in by other providers, and setting them up.
import { beginSignIn } from '../auth/oauth/authorize.ts';
import { signInByProvider } from '../auth/oauth/callback.ts';
import {
  listProviders,
  providerInput,
  providerResponse,
  requireProvider,
  showProvider,
} from '../auth/oauth/provider.ts';
import { removeProvider, setProvider } from '../auth/oauth/set-provider.ts';
import { pageQueryMembers, toPageRequest } from '../contract/page-query.ts';
import { route } from '../contract/route.ts';
import { described, object, okResponse, optional, pageSchema, string } from '../contract/schema.ts';
import { hookErrors } from '../hooks/errors.ts';
import { appOfLogin, onlyApp, respondToSignIn, signInResponses } from './sign-in-response.ts';

const redirectUri = string({ min: 1, max: 2_000 });

/** Responds with the URL of the provider. */
export const oauthAuthorize = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/auth/oauth/:provider/authorize',
  summary:
    'Begins a sign-in with a provider. Returns the URL to send the user to, with PKCE (S256), and its state.',
  scope: 'anyone',
  key: 'never',
  query: object({
    redirect_uri: described(redirectUri, 'The URL that the provider sends the user back to.'),
  }),
  status: 200,
  response: object({ authorize_url: string({ format: 'uri' }), state: string() }),
  handle: async ({ deps, target, params, query, now }) => {
    const { provider } = params;
    return await beginSignIn(deps, target.workspace, { provider, redirectUri: query.redirect_uri, now });
  },
});

/** Signs a user in with the code of the provider. */
export const oauthCallback = route({
  method: 'POST',
  path: '/api/workspaces/:workspace/auth/oauth/:provider/callback',
  summary: 'Completes a sign-in with a provider. If the user is new, creates an end-user without a password.',
  scope: 'anyone',
  key: 'never',
  body: object({
    code: string({ min: 1, max: 4_000 }),
    state: string({ max: 200 }),
    redirect_uri: described(optional(redirectUri), 'Default: the one that the sign-in began with.'),
    app: onlyApp,
  }),
  ...signInResponses,
  errors: ['bad_credentials', 'quota_exceeded', ...hookErrors],
  handle: async (call) => {
    const { deps, target, params, body: { code, state, redirect_uri }, origin, now } = call;
    const { provider } = params;
    const callback = { provider, code, state, redirectUri: redirect_uri, app: appOfLogin(call), origin, now };
    return respondToSignIn(call, await signInByProvider(deps, target.workspace, callback));
  },
});

/** Lists the providers of a workspace. */
export const providersList = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/auth/oauth/providers',
  summary: 'Lists the providers that end-users of a workspace may sign in with.',
  scope: 'workspace_admin',
  key: 'settings:read',
  query: object(pageQueryMembers),
  status: 200,
  response: pageSchema(providerResponse),
  handle: ({ deps, target, query }) => listProviders(deps, target.workspace, toPageRequest(query)),
});

/** Shows a provider. */
export const providersShow = route({
  method: 'GET',
  path: '/api/workspaces/:workspace/auth/oauth/providers/:provider',
  summary: 'Returns a provider, without its secret.',
  scope: 'workspace_admin',
  key: 'settings:read',
  status: 200,
  response: providerResponse,
  handle: async ({ deps, target, params }) =>
    showProvider(await requireProvider(deps, target.workspace, params.provider)),
});

/** Sets up or changes a provider. */
export const providersPut = route({
  method: 'PUT',
  path: '/api/workspaces/:workspace/auth/oauth/providers/:provider',
  summary:
    'Sets a provider up or changes it. google, github and microsoft need only a client id and a secret.',
  scope: 'workspace_admin',
  key: 'settings:write',
  body: providerInput,
  status: 200,
  response: providerResponse,
  handle: ({ deps, target, params, body, principal, origin, now }) => {
    const at = { workspace: target.workspace, name: params.provider };
    return setProvider(deps, at, { input: body, principal, origin, now });
  },
});

/** Removes a provider. */
export const providersRemove = route({
  method: 'DELETE',
  path: '/api/workspaces/:workspace/auth/oauth/providers/:provider',
  summary: 'Removes a provider. Its end-users stay.',
  scope: 'workspace_admin',
  key: 'settings:write',
  status: 200,
  response: okResponse,
  handle: async ({ deps, target, params, principal, origin, now }) => {
    const at = { workspace: target.workspace, name: params.provider };
    await removeProvider(deps, at, { principal, origin, now });
    return { ok: true };
  },
});
