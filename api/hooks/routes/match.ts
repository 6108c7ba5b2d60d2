// Which custom route a request is for.
import type { RouteRegistration } from '../../../hook-runner/registrations.ts';

/** As authors may write it in place of a method. */
const anyMethod = 'ANY';

/** A route and the values of its path's parameters. */
export interface CustomRouteMatch {
  route: RouteRegistration;
  params: Record<string, string>;
}

const segmentRanks = { literal: '0', param: '1', rest: '2' } as const;

/** The custom routes of one state of an app's code, each in the place where it is looked for. */
export class RouteTable {
  /** By the method that they name, the most exact first. Each stands in one list: a tenant says how many methods there are. */
  readonly #routes = new Map<string, RouteRegistration[]>();

  constructor(routes: readonly RouteRegistration[]) {
    const ranked = routes.map((route) => ({ route, rank: rankRoute(route) }))
      // Routes of the same rank stay in the order of registration.
      .sort((a, b) => a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0);
    for (const { route } of ranked) {
      const known = this.#routes.get(route.method);
      if (known === undefined) this.#routes.set(route.method, [route]);
      else known.push(route);
    }
  }

  /**
   * Finds the route of a method and path, the path still percent-encoded and without its first slash. A literal part wins
   * over a parameter, a parameter over the rest, and then what was registered first; a HEAD that has no route of its own is
   * one for a GET.
   */
  match(method: string, path: string): CustomRouteMatch | undefined {
    const parts = decodeParts(path);
    if (parts === undefined) return undefined;
    const own = this.#first(method, parts) ?? (method === 'HEAD' ? this.#first('GET', parts) : undefined);
    const any = this.#first(anyMethod, parts);
    if (own === undefined || any === undefined) return own ?? any;
    return rankRoute(any.route) < rankRoute(own.route) ? any : own;
  }

  #first(method: string, parts: readonly string[]): CustomRouteMatch | undefined {
    for (const route of this.#routes.get(method) ?? []) {
      const params = matchSegments(route, parts);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  }
}

/** The more exact route sorts first. */
function rankRoute({ segments, method }: RouteRegistration): string {
  return segments.map(({ kind }) => segmentRanks[kind]).join('') + (method === anyMethod ? '1' : '0');
}

function matchSegments(
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
function decodeParts(path: string): string[] | undefined {
  const trimmed = path.startsWith('/') || path.endsWith('/')
    ? path.replace(/^\/+/, '').replace(/\/$/, '')
    : path;
  if (trimmed === '') return [];
  const parts = trimmed.split('/');
  if (!trimmed.includes('%')) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
