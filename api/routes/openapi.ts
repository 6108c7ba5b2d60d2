// The API description, served by the server that it describes.
import { openApiOf } from '../openapi/openapi.ts';
import { type AnyRoute, route } from '../route.ts';
import { fieldMap } from '../schema.ts';

/** Describes these routes and itself. */
export function openApiRoute(others: readonly AnyRoute[]): AnyRoute {
  const self: AnyRoute = route({
    method: 'GET',
    path: '/_/openapi.json',
    summary: 'This description.',
    scope: 'open',
    status: 200,
    response: fieldMap('An OpenAPI 3.1 document.'),
    handle: () => document,
  });
  const document: Record<string, unknown> = { ...openApiOf([...others, self]) };
  return self;
}
