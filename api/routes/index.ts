// Every route of the server, one file a resource.
import type { AnyRoute } from '../route.ts';
import { openApiRoute } from './openapi.ts';
import { healthz, readyz } from './server.ts';

const described: readonly AnyRoute[] = [
  healthz,
  readyz,
];

/** The list that router, API description and contract tests are made from. */
export const routes: readonly AnyRoute[] = [...described, openApiRoute(described)];
