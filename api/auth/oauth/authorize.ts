// The first half of a sign-in by OAuth: the user is sent to the provider (RFC 6749 section 4.1.1).
import { createHash } from 'node:crypto';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { StorageError } from '../../../storage/errors.ts';
import { insertState } from '../../../storage/workspace/oauth-states.ts';
import type { Deps } from '../../deps.ts';
import { hashToken, makeToken } from '../email/one-time.ts';
import { requireMethod } from '../login/user-attempt.ts';
import { deriveNonce } from './id-token.ts';
import { failNoProvider, requireProvider } from './provider.ts';
import { checkRedirectUri } from './redirect-uri.ts';

/** Life of a state in milliseconds: a login page with a second factor takes some time. */
const stateLifeMs = 600_000;

/**
 * Returns where to send the user, and the state that comes back with them. Throws `400 validation`, `403 forbidden`
 * where OAuth is switched off, `404 not_found`.
 */
export async function beginSignIn(
  deps: Pick<Deps, 'databases' | 'policies'>,
  workspace: WorkspaceDefinition,
  { provider: name, redirectUri, now }: { provider: string; redirectUri: string; now: Date },
): Promise<{ authorize_url: string; state: string }> {
  await requireMethod(deps, 'oauth', { workspace: workspace.id });
  const provider = await requireProvider(deps, workspace, name);
  const redirect_uri = checkRedirectUri(provider, redirectUri);
  const state = makeToken();
  // 32 random bytes, as RFC 7636 section 4.1 recommends.
  const code_verifier = makeToken();
  const hash = hashToken(state);
  const expires_at = new Date(now.getTime() + stateLifeMs);
  const row = { hash, provider: name, redirect_uri, code_verifier, created_at: now, expires_at };
  await deps.databases.workspace(workspace.database).transaction((sql) => insertState(sql, row))
    .catch((error: unknown) => {
      const isGone = error instanceof StorageError && error.failure === 'missing_reference';
      if (isGone) failNoProvider(name);
      throw error;
    });
  const url = new URL(provider.auth_url);
  const parameters = {
    response_type: 'code',
    client_id: provider.client_id,
    redirect_uri,
    ...(provider.scopes.length === 0 ? {} : { scope: provider.scopes.join(' ') }),
    ...(provider.scopes.includes('openid') ? { nonce: deriveNonce(code_verifier) } : {}),
    state,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  return { authorize_url: url.href, state };
}
