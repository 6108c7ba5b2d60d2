// Whether an access rule admits a caller. Every action of every collection has the default rule: admins only.
import { fail } from '../errors.ts';
import { administers, type Place, type Principal } from '../scope.ts';

/** Lets admins of the app pass. Throws `401` for a caller without a token, `403` for one with a token. */
export function admitAdmins({ principal, params }: { principal: Principal | null; params: Place }): void {
  if (principal === null) {
    fail('unauthorized', 'the access rule asks for an access token: Authorization: Bearer <token>');
  }
  if (!administers(principal, params)) fail('forbidden', 'the access rule admits admins only');
}
