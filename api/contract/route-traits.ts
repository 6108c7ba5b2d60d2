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
