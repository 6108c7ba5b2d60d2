// The second half of a sign-in by OAuth: the provider has sent the user back with a code.
import { clientSecretOwner } from '../../../storage/secrets.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { lockState, type TakenState, takeState } from '../../../storage/workspace/oauth-states.ts';
import type { ProviderRow } from '../../../storage/workspace/oauth-providers.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { failValidation } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { hashToken } from '../email/one-time.ts';
import { type SignInDeps, type SignInOutcome, signInUser } from '../login/sign-in-user.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { requireMethod, userAttempt } from '../login/user-attempt.ts';
import { hooksBeforeRegister } from '../login/user-hooks.ts';
import { exchangeCode } from './exchange.ts';
import { readIdToken, refuseIdToken } from './id-token.ts';
import { type AccountMatch, identify, type IdentityClaim, matchAccount, refuseIdentity } from './identity.ts';
import { profileStyle } from './presets.ts';
import { type ProviderProfile, readProfile } from './profile.ts';
import { requireProvider } from './provider.ts';
import { checkRedirectUri } from './redirect-uri.ts';

type CallbackDeps = SignInDeps & Pick<Deps, 'egress' | 'issuerKeys' | 'observe' | 'revocations'>;

/** The parameters that come back from a provider. */
export interface Callback {
  provider: string;
  code: string;
  state: string;
  /** The one that the state was made with, unless it is left out. */
  redirectUri: string | undefined;
  /** The tokens are to be good for this app only. */
  app: string | undefined;
  origin: RequestOrigin;
  now: Date;
}

/**
 * Returns tokens or a challenge. Throws `400 validation` for a state that is no good, `401 bad_credentials` for such a
 * code, `403 forbidden`, `404 not_found`, `429 too_many_requests`, `503 unavailable` when the provider is no help.
 */
export async function signInByProvider(
  deps: CallbackDeps,
  workspace: WorkspaceDefinition,
  callback: Callback,
): Promise<SignInOutcome> {
  const { provider: name, state, redirectUri, app, origin, now } = callback;
  await requireMethod(deps, 'oauth', { workspace: workspace.id, app });
  const provider = await requireProvider(deps, workspace, name);
  const connection = deps.databases.workspace(workspace.database);
  const query = { hash: hashToken(state), provider: name, redirectUri, now };
  const taken = await connection.run((sql) => takeState(sql, query)) ?? refuseState();
  checkRedirectUri(provider, taken.redirect_uri);
  const profile = await readProviderProfile(deps, workspace, {
    provider,
    code: callback.code,
    state: taken,
    now,
  });
  const account = { provider: name, source: provider.userinfo_url, subject: profile.subject };
  const mostUsers = await quotaLimit(deps.policies, 'quota.users', { workspace: workspace.id, app });
  const newId = deps.newId();
  const claim: IdentityClaim = { account, profile, mostUsers, newId, origin, now };
  const match = await connection.run((sql) => matchAccount(sql, claim));
  if (match.as === 'none') return await refuseClaim(deps, workspace, { match, claim });
  const email = match.as === 'new' ? match.email : match.user.email;
  const attempt = userAttempt(deps, workspace, { email, origin, now });
  const beforeRegister = await hooksBeforeRegister(deps, workspace, app);
  const mayRegister = beforeRegister === undefined || match.as === 'new';
  if (match.as === 'new') {
    const user = { id: newId, email, verified: profile.isVerified };
    await beforeRegister?.({ user, method: 'oauth', requestId: origin.requestId });
  }
  return await signInUser(deps, attempt, {
    workspace,
    app,
    method: 'oauth',
    prove: async (sql) => {
      // The provider's claims count as long as it is the provider.
      if (!await lockState(sql, query.hash)) refuseState();
      return await identify(sql, deps, { ...claim, mayRegister });
    },
  });
}

/** No connection to the database is held meanwhile. */
async function readProviderProfile(
  deps: CallbackDeps,
  workspace: WorkspaceDefinition,
  { provider, code, state, now }: { provider: ProviderRow; code: string; state: TakenState; now: Date },
): Promise<ProviderProfile> {
  const { provider: name, client_id: clientId, client_secret_sealed: sealed, userinfo_url: url, issuer } =
    provider;
  const asking = { deps, workspace: workspace.id, provider: name };
  const secret = sealed === null
    ? undefined
    : deps.secrets.open('oauth-client-secret', clientSecretOwner(workspace.database, name), sealed)
      .toString();
  const { accessToken: token, idToken } = await exchangeCode(asking, { provider, secret, code, state });
  const profile = await readProfile(asking, { url, token, style: profileStyle(name) });
  if (issuer === null) return profile;
  const expected = { issuer, clientId, codeVerifier: state.code_verifier, now };
  // OpenID Connect Core section 5.3.2: else the access token may be that of somebody else.
  const isSame = await readIdToken(asking, idToken, expected) === profile.subject;
  return isSame ? profile : refuseIdToken(asking, 'its subject is not that of the user info');
}

async function refuseClaim(
  deps: CallbackDeps,
  { database }: WorkspaceDefinition,
  { match: { email, reason }, claim: { account: { provider }, origin } }: {
    match: Extract<AccountMatch, { as: 'none' }>;
    claim: IdentityClaim;
  },
): Promise<never> {
  // Nothing that only the provider said: a tenant could read by it what a server in a private network responds with.
  const actor = email === '' ? provider : email;
  const details = { as: 'user', by: 'oauth', provider, reason };
  await deps.databases.workspace(database).run((sql) =>
    auditWorkspace(sql, deps, { actor, action: 'login_failed', target: actor, details, origin })
  );
  refuseIdentity(reason);
}

function refuseState(): never {
  failValidation([{ field: 'state', reason: 'is not valid, has expired or has been used' }]);
}
