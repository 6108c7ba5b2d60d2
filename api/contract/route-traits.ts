// Properties of a route that follow from its literal.
import { scopes } from '../scope.ts';
import type { AnyRoute } from './route.ts';

/** True when requests count for the quota of the app: those that use the app do, those that administer it do not. */
export function countsForQuota({ path, scope }: Pick<AnyRoute, 'path' | 'scope'>): boolean {
  return path.includes('/:app') &&
    (scope === 'open' || scope === 'anyone' || scope === 'user' || scope === 'member');
}

/** True for requests that make way for others: uploads, and those of auth, most of which wait for a password hash. */
export function canWait({ path, readsBody }: Pick<AnyRoute, 'path' | 'readsBody'>): boolean {
  return readsBody === true || path.includes('/auth/');
}

/** The callers of a route, as a phrase for the API description and the reference. */
export function whoMayCall({ scope }: Pick<AnyRoute, 'scope'>): string {
  return scopes[scope].who;
}

/** What an API key needs to call a route, as a phrase; undefined where a token is ignored. */
export function keyNeeds({ scope, key = 'never' }: Pick<AnyRoute, 'scope' | 'key'>): string | undefined {
  if (scope === 'open') return undefined;
  return key === 'never' ? 'refused' : key === 'any' ? 'any key' : key;
}

/** What the end-users of a workspace come in by. */
const userAuth =
  /^\/api\/workspaces\/:workspace\/auth\/(?:users|otp|totp|oauth\/:provider|sessions|me|password|verify-email|password-reset|email-change)(?:\/|$)/;
const everywhere = new Set(['/healthz', '/readyz', '/_/auth/refresh', '/_/auth/logout']);

/** True for routes that are also at the origin of each app: its API, and the sign-in of its users. */
export function isForAppHosts({ path }: Pick<AnyRoute, 'path'>): boolean {
  return path.startsWith('/api/workspaces/:workspace/apps/:app/') || userAuth.test(path) ||
    everywhere.has(path);
}
