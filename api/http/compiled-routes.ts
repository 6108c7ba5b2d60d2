// The table of routes as code: h3 walks a tree for each request, which takes twice as long.
import type { H3 } from 'h3';
import { addRoute, createRouter } from 'rou3';
import { compileRouter } from 'rou3/compiler';

/** What an address is resolved by: `.` and `..`, also when they are encoded, and the backslash that stands for a slash. */
const toBeResolved = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;
/** A path that no route has. */
const nowhere = '/.';

/**
 * Has an app find its routes by code that its own router makes of them. None may be added afterwards. A path that would
 * have to be resolved leads nowhere: whoever looked at it on its way here, or made it of a name, may not have resolved it.
 */
export function compileRoutes(app: H3): H3 {
  const routes = app['~routes'];
  const table = createRouter<(typeof routes)[number]>();
  for (const route of routes) addRoute(table, route.method, route.route ?? '/', route);
  const find = compileRouter(table);
  app['~findRoute'] = ({ req, url, runtime }) =>
    find(req.method, isAsSent(url.pathname, runtime?.node?.req.url ?? '') ? url.pathname : nowhere);
  return app;
}

/** Whether nothing was resolved to make a path of what the request line has. */
function isAsSent(path: string, target: string): boolean {
  const next = target[path.length];
  // As almost all are.
  if (target.startsWith(path) && (next === undefined || next === '?')) return true;
  return !toBeResolved.test(target.replace(/[?#].*/s, ''));
}
