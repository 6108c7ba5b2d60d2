// Access tokens: issued, verified, remembered until they expire or are revoked.
import type { Principal } from '../scope.ts';

/** The access tokens of this server. */
export interface AccessTokens {
  /** A token that has been verified before and is still good; without a signature check, for the hot path. */
  recall(token: string): Principal | undefined;
  /** Checks signature, claims and revocation. Throws `401 unauthorized`. */
  verify(token: string): Promise<Principal>;
}
