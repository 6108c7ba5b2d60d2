// Which custom route a request is for.
import type { RouteRegistration } from '../../hook-runner/registrations.ts';

/** As authors may write it in place of a method. */
const anyMethod = 'ANY';

/** A route and the values of its path's parameters. */
export interface RouteMatch {
  route: RouteRegistration;
  params: Record<string, string>;
}

/**
 * Finds the route of a method and path, the path still percent-encoded and without its first slash. A literal part wins over a
 * parameter, a parameter over the rest, and then what was registered first; a HEAD may be answered by a GET.
 */
export function matchRoute(
  routes: readonly RouteRegistration[],
  method: string,
  path: string,
): RouteMatch | undefined {
  const parts = decoded(path);
  if (parts === undefined) return undefined;
  return best(routes, method, parts) ?? (method === 'HEAD' ? best(routes, 'GET', parts) : undefined);
}

function best(
  routes: readonly RouteRegistration[],
  method: string,
  parts: readonly string[],
): RouteMatch | undefined {
  let found: { match: RouteMatch; rank: string } | undefined;
  for (const route of routes) {
    if (route.method !== method && route.method !== anyMethod) continue;
    const params = paramsOf(route, parts);
    if (params === undefined) continue;
    const rank = rankOf(route);
    if (found === undefined || rank < found.rank) found = { match: { route, params }, rank };
  }
  return found?.match;
}

const ranks = { literal: '0', param: '1', rest: '2' } as const;

/** What is more exact sorts first. */
function rankOf({ segments, method }: RouteRegistration): string {
  return segments.map(({ kind }) => ranks[kind]).join('') + (method === anyMethod ? '1' : '0');
}

function paramsOf(
  { segments }: RouteRegistration,
  parts: readonly string[],
): Record<string, string> | undefined {
  const params: [string, string][] = [];
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'rest') {
      params.push(['*', parts.slice(index).join('/')]);
      return Object.fromEntries(params);
    }
    const part = parts[index];
    if (part === undefined) return undefined;
    if (segment.kind === 'param') {
      if (part === '') return undefined;
      params.push([segment.name, part]);
    } else if (segment.value !== part) return undefined;
  }
  return parts.length === segments.length ? Object.fromEntries(params) : undefined;
}

/** Parts between slashes; undefined when one is not valid percent-encoding. */
function decoded(path: string): string[] | undefined {
  const trimmed = path.replace(/^\/+/, '').replace(/\/$/, '');
  if (trimmed === '') return [];
  try {
    return trimmed.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
