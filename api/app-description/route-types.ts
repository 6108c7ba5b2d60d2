// The types of an app's custom routes.
import type { RouteRegistration } from '../../hook-runner/registrations.ts';

const anyMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods of a route. Of one for any, the methods that a client would use. */
export function methodsOf({ method }: RouteRegistration): readonly string[] {
  return method === 'ANY' ? anyMethods : [method];
}

/** The members of an interface, one for each method and path. Of those that are the same, the first counts. */
export function declareRoutes(routes: readonly RouteRegistration[]): string {
  const members = new Map<string, string>();
  for (const route of routes) {
    for (const method of methodsOf(route)) {
      const key = `${method} ${pathOf(route)}`;
      if (!members.has(key)) members.set(key, declareRoute(route));
    }
  }
  return [...members].map(([key, type]) => `    ${JSON.stringify(key)}: ${type};\n`).join('');
}

/** The path with `:name` for each parameter, whatever the author wrote. */
function pathOf({ segments }: RouteRegistration): string {
  return `/${
    segments.map((segment) =>
      segment.kind === 'literal'
        ? encodeURIComponent(segment.value)
        : segment.kind === 'param'
        ? `:${segment.name}`
        : '*'
    ).join('/')
  }`;
}

/** The names of the parameters of a path. */
function parametersOf({ segments }: RouteRegistration): string[] {
  return segments.flatMap((segment) =>
    segment.kind === 'literal' ? [] : segment.kind === 'param' ? [segment.name] : ['*']
  );
}

function declareRoute(route: RouteRegistration): string {
  const names = parametersOf(route).map((name) => `${name === '*' ? "'*'" : name}: string`);
  const params = names.length === 0 ? 'Record<never, never>' : `{ ${names.join('; ')} }`;
  return `{ params: ${params}; query: unknown; body: unknown; response: unknown }`;
}
