// The errors that a route can respond with: those of the pipeline, by its scope, path, query and body, and its own.
import { type ErrorCode, errorCodes } from '../errors.ts';
import type { AnyRoute } from './route.ts';
import { countsForQuota } from './route-traits.ts';

/** The codes of a route, in the order of the error table. */
export function routeErrors(route: AnyRoute): ErrorCode[] {
  const possible = new Set<ErrorCode>([
    ...requestErrors(route),
    ...authorizationErrors(route),
    ...targetErrors(route),
    ...(countsForQuota(route) ? ['quota_exceeded' as const] : []),
    ...inputErrors(route),
    ...(route.errors ?? []),
  ]);
  return allErrorCodes.filter((code) => possible.has(code));
}

/** The codes of a route by status. */
export function routeErrorsByStatus(route: AnyRoute): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of routeErrors(route)) {
    const row = errorCodes[code];
    for (const status of [row.status, ...('also' in row ? row.also : [])]) {
      byStatus.set(status, [...byStatus.get(status) ?? [], code]);
    }
  }
  return byStatus;
}

/** Every code, in the order of the error table. */
export const allErrorCodes = Object.keys(errorCodes).filter(isErrorCode);

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

/** Errors before the route matters. The limit of bodies checks the `Content-Length` of every request. */
function requestErrors({ beforeSetup }: AnyRoute): ErrorCode[] {
  const always: ErrorCode[] = ['payload_too_large', 'internal', 'too_many_requests'];
  if (beforeSetup !== true) always.push('uninitialized', 'unavailable');
  return always;
}

function authorizationErrors({ scope, refusesForeignOrigin }: AnyRoute): ErrorCode[] {
  if (scope !== 'open') return ['unauthorized', 'forbidden'];
  return refusesForeignOrigin === true ? ['forbidden'] : [];
}

function targetErrors({ path }: AnyRoute): ErrorCode[] {
  const found: ErrorCode[] = [];
  if (path.includes('/:workspace')) found.push('workspace_not_found');
  if (path.includes('/:app')) found.push('app_not_found');
  // Even where nothing is looked up: a parameter that is not valid percent-encoding names nothing.
  if (path.includes('/:')) found.push('not_found');
  return found;
}

function inputErrors({ query, body }: AnyRoute): ErrorCode[] {
  if (body !== undefined) return ['validation', 'deserialization'];
  return query === undefined ? [] : ['validation'];
}
