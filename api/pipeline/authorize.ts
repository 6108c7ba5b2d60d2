// Authorizes a request by the claims of its token, before anything is read from the database.
import { fail } from '../errors.ts';
import type { AnyRoute } from '../contract/route.ts';
import { decideScope, type Principal } from '../scope.ts';

/** Throws `401 unauthorized` when the route needs a token, `403 forbidden` when this token does not allow it. */
export function requireScope(
  { scope }: AnyRoute,
  principal: Principal | null,
  params: Readonly<Record<string, string>>,
): void {
  const decision = decideScope(scope, principal, params);
  if (decision === 'unauthorized') {
    fail('unauthorized', 'this needs an access token: Authorization: Bearer <token>');
  }
  if (decision === 'forbidden') fail('forbidden', 'this token does not allow that');
}
