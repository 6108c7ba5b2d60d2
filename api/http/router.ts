// Finds the route of a request. The table of routes is compiled to code, which takes half the time of h3's walk through a tree.
import { H3, type H3Event } from 'h3';
import { addRoute, createRouter } from 'rou3';
import { compileRouter } from 'rou3/compiler';
import type { AnyRoute } from '../contract/route.ts';
import { type AppRoute, replaceRouter, routesOf } from './h3-internals.ts';

/** The route of a request, or the methods of its path when it has no route for the method. */
export interface RouteMatch {
  route: AnyRoute | undefined;
  /** The value of `Allow`; undefined when the path has no route at all. */
  allow: string | undefined;
}

/** Builds an h3 app that passes every request to `handle`, with its route. */
export function mountRoutes(
  routes: readonly AnyRoute[],
  handle: (event: H3Event, match: RouteMatch) => Promise<Response>,
): H3 {
  const app = new H3({ silent: true, allowMalformedURL: true });
  const allowed = allowedMethods(routes);
  for (const route of routes) {
    const match: RouteMatch = { route, allow: allowed.get(route.path) };
    const handler = (event: H3Event) => handle(event, match);
    app.on(route.method, mountPath(route.path), handler);
    if (route.method === 'GET') app.on('HEAD', mountPath(route.path), handler);
  }
  for (const [path, allow] of allowed) {
    app.all(mountPath(path), (event) => handle(event, { route: undefined, allow }));
  }
  app.all('/**', (event) => handle(event, { route: undefined, allow: undefined }));
  return compileRoutes(app);
}

function allowedMethods(routes: readonly AnyRoute[]): Map<string, string> {
  const methods = new Map<string, string>();
  for (const { path, method } of routes) {
    const own = method === 'GET' ? 'GET, HEAD' : method;
    const known = methods.get(path);
    methods.set(path, known === undefined ? own : `${known}, ${own}`);
  }
  return methods;
}

/** A route's path in the router's form, where a named rest (`**:path`) never matches an empty rest or an empty segment. */
function mountPath(path: string): string {
  return path.replace(/\*\*:[a-z]+$/, '**');
}

/** A path that URL parsing resolves: it has `.` or `..`, also encoded, or a backslash in the place of a slash. */
const resolvable = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;
/** A path that no route has. */
const nowhere = '/.';

/**
 * Makes an app find its routes by compiled code; none may be added afterwards. A path that would have to be resolved matches
 * no route, because a proxy that checked it, or a client that built it from a name, may not have resolved it.
 */
function compileRoutes(app: H3): H3 {
  const table = createRouter<AppRoute>();
  for (const route of routesOf(app)) addRoute(table, route.method, route.route ?? '/', route);
  const find = compileRouter(table);
  replaceRouter(app, ({ req, url, runtime }) => {
    const isLiteral = isAsSent(url.pathname, runtime?.node?.req.url ?? '');
    return find(req.method, isLiteral ? url.pathname : nowhere);
  });
  return app;
}

/** True when the path is what the request line has, without anything resolved. */
function isAsSent(path: string, target: string): boolean {
  const next = target[path.length];
  // Almost all requests end here.
  if (target.startsWith(path) && (next === undefined || next === '?')) return true;
  return !resolvable.test(target.replace(/[?#].*/s, ''));
}
