// Describes the API as OpenAPI 3.1, from the route literals (https://spec.openapis.org/oas/v3.1.1.html).
import { errorSchema, fieldErrorSchema } from './error-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { describeOperation, type Operation, responseHeaders, type SharedResponses } from './operation.ts';
import { allErrorCodes } from './route-errors.ts';
import type { AnyRoute } from './route.ts';

/** An OpenAPI document. Its order follows the list of routes, so that equal lists give equal text. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    responses: SharedResponses;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

/** The version of the API, which is that of the program: a test compares it with package.json. */
const version = '0.2.0';

/** Describes routes. Throws `RangeError` for a path parameter without a description. */
export function describeApi(routes: readonly AnyRoute[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const responses: SharedResponses = {};
  for (const route of routes) {
    const operations = paths[toTemplate(route.path)] ??= {};
    operations[route.method.toLowerCase()] = describeOperation(route, responses);
  }
  return openApiDocument({
    title: 'Bulkhead',
    description: 'A multi-tenant backend server. Every GET route supports HEAD too. ' +
      'On an existing path, any other method gets 405 with `Allow`.',
    url: '/',
    paths,
    responses,
    schemas: {},
  });
}

/** The parts of a document that depend on what it describes. */
export interface DocumentParts {
  title: string;
  description: string;
  /** The URL that all paths follow. */
  url: string;
  paths: OpenApiDocument['paths'];
  responses: SharedResponses;
  /** Schemas besides those of errors. */
  schemas: Record<string, JsonSchema>;
}

/** The document of these parts. */
export function openApiDocument(
  { title, description, url, paths, responses, schemas }: DocumentParts,
): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url }],
    paths,
    components: {
      schemas: { ...schemas, Error: errorSchema(allErrorCodes), FieldError: fieldErrorSchema },
      headers: { ...responseHeaders },
      responses,
      securitySchemes,
    },
  };
}

/** The path as OpenAPI writes it. */
export function toTemplate(path: string): string {
  return path.replaceAll(/(?:\*\*)?:([a-z]+)/g, '{$1}');
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The access token of a sign-in (a JWT), or the secret of an API key (`bhk_…`). What a key may call, and with which ' +
      'scope, the description of each operation says.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_at',
    description:
      'Set by login and refresh. `svc` is the setting `http.cookie_prefix`. A request that changes ' +
      'something also needs an `Origin` that is the server’s own or among the origins of the token’s workspace.',
  },
};
