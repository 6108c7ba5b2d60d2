// Whether the claims of a token cover a route, before anything is looked up.
import { fail } from '../errors.ts';
import type { AnyRoute } from '../contract/route.ts';
import { decideScope, type Principal } from '../scope.ts';

/** Throws `401 unauthorized` without a token where one is needed, `403 forbidden` with one that does not allow this. */
export function requireScope(
  { scope }: AnyRoute,
  principal: Principal | null,
  params: Readonly<Record<string, string>>,
): void {
  const verdict = decideScope(scope, principal, params);
  if (verdict === 'unauthorized') {
    fail('unauthorized', 'this needs an access token: Authorization: Bearer <token>');
  }
  if (verdict === 'forbidden') fail('forbidden', 'this token does not allow that');
}
