// Workspaces whose users may come by an OpenID provider.
import { type OwnWorkspace, ownWorkspace } from './api.ts';
import { redirectUri, useProvider } from './oauth.ts';
import { type OpenIdPeer, type PeerAccount, startOpenIdPeer } from './openid.ts';
import { freshEmail } from './users.ts';

/** A new workspace with a provider called `peer`, which the caller has to close. */
export async function peerWorkspace(): Promise<{ own: OwnWorkspace; peer: OpenIdPeer }> {
  const [own, peer] = await Promise.all([ownWorkspace(), startOpenIdPeer({ redirectUris: [redirectUri] })]);
  await useProvider(own, 'peer', peer);
  return { own, peer };
}

/** Somebody new at a provider, with an address that it vouches for unless told otherwise. */
export function somebodyAt(
  peer: OpenIdPeer,
  { email = freshEmail(), ...more }: Partial<Omit<PeerAccount, 'login'>> = {},
): { peer: OpenIdPeer; login: string; email: string } {
  const login = `login of ${email}`;
  peer.know({ login, email, emailVerified: true, ...more });
  return { peer, login, email };
}
