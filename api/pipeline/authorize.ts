// Authorizes a request by the claims of its token, before anything is read from the database.
import { fail } from '../errors.ts';
import { requireKeyScope } from '../contract/key-scopes.ts';
import type { AnyRoute } from '../contract/route.ts';
import { isForAppHosts } from '../contract/route-traits.ts';
import type { AppHost } from '../http/hosts/hosts.ts';
import { decideScope, type Principal } from '../scope.ts';

/** Throws `401 unauthorized` when the route needs a token, `403 forbidden` when this token does not allow it. */
export function requireScope(
  { scope, method, key = 'never' }: AnyRoute,
  principal: Principal | null,
  params: Readonly<Record<string, string>>,
): void {
  const decision = decideScope(scope, principal, params);
  if (decision === 'unauthorized') {
    fail('unauthorized', 'this needs an access token: Authorization: Bearer <token>');
  }
  if (decision === 'forbidden') fail('forbidden', 'this token does not allow that');
  const { workspace, app, coll: collection } = params;
  requireKeyScope(principal, key, { workspace, app, collection });
  if (principal?.impersonator !== undefined && scope === 'user' && method !== 'GET') {
    fail('forbidden', 'an admin who acts as a user may not change the account of that user');
  }
}

/**
 * Returns the route. Throws `404 not_found` at the origin of an app for one that is not there: those of other tenants and of
 * operators. A page there acts by the cookies of its own users alone.
 */
export function requireOwnRoute<Route extends Pick<AnyRoute, 'path'>>(
  host: AppHost | undefined,
  route: Route,
  { workspace, app }: Readonly<Record<string, string>>,
): Route {
  if (host === undefined) return route;
  const isOwn = (workspace === undefined || workspace === host.workspace) &&
    (app === undefined || app === host.app);
  if (isOwn && isForAppHosts(route)) return route;
  fail('not_found', 'there is no such route at the origin of an app');
}
