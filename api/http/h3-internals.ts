// The private parts of h3 that the API uses. docs/dependencies.md lists them.
import type { H3, H3Event } from 'h3';

/** A route of an app, as h3 keeps it. */
export type AppRoute = H3['~routes'][number];

/** Finds the route of a request. */
export type FindRoute = (event: H3Event) => ReturnType<H3['~findRoute']>;

/** The routes that an app has so far. */
export function routesOf(app: H3): readonly AppRoute[] {
  return app['~routes'];
}

/** Replaces h3's own search for the route of a request. */
export function replaceRouter(app: H3, find: FindRoute): void {
  app['~findRoute'] = find;
}
