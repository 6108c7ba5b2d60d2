// Sign-ins by a provider, from the app's side.
import { type ApiResponse, as, expectOk, type OwnWorkspace } from './api.ts';
import type { OpenIdPeer, SentBack } from './openid.ts';

/** A provider as it is set up: where it is, and who one is there. */
export interface ProviderSetting {
  clientId: string;
  clientSecret: string;
  config: object;
}

/** The app's page that providers send people back to. */
export const redirectUri = 'http://127.0.0.1:4000/callback';

/** Sets a provider up in a workspace. */
export async function useProvider(
  { admin, path }: OwnWorkspace,
  name: string,
  { clientId: client_id, clientSecret: client_secret, config }: ProviderSetting,
): Promise<void> {
  expectOk(await admin.put(`${path}/auth/oauth/providers/${name}`, { client_id, client_secret, config }));
}

/** Asks where to send somebody. */
export async function authorize(
  own: OwnWorkspace,
  name: string,
  uri: string = redirectUri,
): Promise<ApiResponse> {
  return await as().get(`${own.path}/auth/oauth/${name}/authorize?redirect_uri=${encodeURIComponent(uri)}`);
}

/** Sends somebody to the provider and back. */
export async function visit(
  own: OwnWorkspace,
  name: string,
  at: { peer: OpenIdPeer; login: string },
): Promise<SentBack> {
  const { authorize_url } = expectOk(await authorize(own, name));
  return await at.peer.signIn(authorize_url, at.login);
}

/** What comes back from a provider is redeemed. */
export async function redeem(
  own: OwnWorkspace,
  name: string,
  { code, state, ...more }: {
    code: string;
    state: string;
    redirect_uri?: string;
    app?: string;
    url?: string;
  },
): Promise<ApiResponse> {
  const { url: _url, ...body } = more;
  return await as().post(`${own.path}/auth/oauth/${name}/callback`, { code, state, ...body });
}

/** All of it. */
export async function signInBy(
  own: OwnWorkspace,
  name: string,
  at: { peer: OpenIdPeer; login: string },
): Promise<ApiResponse> {
  return await redeem(own, name, await visit(own, name, at));
}
