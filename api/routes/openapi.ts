// The API description, served by the server that it describes.
import { JsonText } from '../../storage/sql/json-text.ts';
import { describeApi } from '../contract/openapi.ts';
import { type AnyRoute, route } from '../contract/route.ts';
import { fieldMap } from '../contract/schema.ts';

/** Describes these routes and itself. */
export function openApiRoute(others: readonly AnyRoute[]): AnyRoute {
  const self: AnyRoute = route({
    method: 'GET',
    path: '/_/openapi.json',
    summary: 'Returns this description.',
    scope: 'open',
    status: 200,
    response: fieldMap('An OpenAPI 3.1 document.'),
    handle: () => document,
  });
  const parts = Object.entries(describeApi([...others, self]));
  // Written once, since it is large and public.
  const document = Object.fromEntries(
    parts.map(([name, part]) => [name, new JsonText(JSON.stringify(part))]),
  );
  return self;
}
