// The OpenAPI 3.1 description, made from the route literals (https://spec.openapis.org/oas/v3.1.1.html).
import { type ErrorCode, errorCodes } from './errors.ts';
import { errorsByStatus, whoMayCall } from './route-errors.ts';
import type { AnyRoute } from './route.ts';
import type { JsonSchema } from './json-schema.ts';

interface Reference {
  $ref: string;
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

interface MediaType {
  schema: JsonSchema | Reference;
}

interface ResponseObject {
  description: string;
  headers: Record<string, Reference>;
  content: Record<string, MediaType>;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, never[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
}

/** The document; its order follows the list of routes, so that equal lists give equal text. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    responses: Record<string, ResponseObject>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

type Responses = OpenApiDocument['components']['responses'];

const json = 'application/json';
const tenantId: JsonSchema = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' };
const identifier: JsonSchema = { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$' };

/** What each name in a path stands for. A path with another name cannot be described until it has its line here. */
const pathParameters: Readonly<Record<string, { description: string; schema: JsonSchema }>> = {
  workspace: { description: 'Id of the workspace.', schema: tenantId },
  app: { description: 'Id of the app.', schema: tenantId },
  field: { description: 'Name of the policy, such as `password.length`.', schema: { type: 'string' } },
  coll: { description: 'Id of the collection.', schema: identifier },
  name: { description: 'Id of the collection.', schema: identifier },
  action: {
    description: 'What the access rule is about.',
    schema: { type: 'string', enum: ['list', 'get', 'create', 'update', 'delete'] },
  },
  provider: { description: 'Name of the OAuth provider.', schema: tenantId },
  filename: { description: 'Name of the hook file.', schema: { type: 'string' } },
  variable: { description: 'Name of the variable.', schema: { type: 'string' } },
  path: { description: 'Whatever the hooks of the app have registered.', schema: { type: 'string' } },
  id: { description: 'Id of the object.', schema: { type: 'string', format: 'uuid' } },
};

/** The version of the interface: the program's own (a test compares it with package.json). */
const version = '0.1.0';

/** Describes the routes. Throws `RangeError` for a path parameter that has no description. */
export function openApiOf(routes: readonly AnyRoute[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const responses: Responses = {};
  for (const route of routes) {
    const operations = paths[templateOf(route.path)] ??= {};
    operations[route.method.toLowerCase()] = operationOf(route, responses);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bulkhead',
      version,
      description: 'A backend server whose tenants sit behind bulkheads. GET routes answer HEAD too. ' +
        'A path that exists answers other methods with 405 and `Allow`.',
    },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: { Error: anyError() }, headers, responses, securitySchemes },
  };
}

function templateOf(path: string): string {
  return path.replaceAll(/(?:\*\*)?:([a-z]+)/g, '{$1}');
}

function operationOf(route: AnyRoute, shared: Responses): Operation {
  const parameters = [...pathParametersOf(route.path), ...queryParametersOf(route)];
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: `Who may: ${whoMayCall(route)}.`,
    tags: [tagOf(route.path)],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : {
      requestBody: {
        required: route.bodyMayBeEmpty !== true,
        content: { [json]: { schema: route.body.json } },
      },
    }),
    responses: responsesOf(route, shared),
  };
}

function operationId({ method, path }: AnyRoute): string {
  const words = path.split('/').filter((word) => word !== '').map((word) =>
    word.startsWith(':') ? `by-${word.slice(1)}` : word
  );
  return [method.toLowerCase(), ...words].join('-').replaceAll(
    /[^a-z]+([a-z0-9])/gi,
    (_, next: string) => next.toUpperCase(),
  );
}

/** The resource: the last part of the path that is a plural noun of ours, or the server itself. */
function tagOf(path: string): string {
  const known = ['auth', 'records', 'collections', 'policies', 'audit', 'admins', 'apps', 'workspaces'];
  const parts = path.split('/');
  return known.find((tag) => parts.includes(tag)) ?? 'server';
}

function securityOf({ scope }: AnyRoute): Record<string, never[]>[] {
  if (scope === 'open') return [];
  const token: Record<string, never[]>[] = [{ bearer: [] }, { cookie: [] }];
  return scope === 'anyone' ? [{}, ...token] : token;
}

function pathParametersOf(path: string): Parameter[] {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => {
    const known = pathParameters[name];
    if (known === undefined) {
      throw new RangeError(`${path}: describe the path parameter "${name}" in openapi.ts`);
    }
    return { name, in: 'path', required: true, ...known };
  });
}

function queryParametersOf({ query }: AnyRoute): Parameter[] {
  return Object.entries(query?.json.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schema;
    return {
      name,
      in: 'query',
      required: query?.json.required?.includes(name) === true,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function responsesOf(route: AnyRoute, shared: Responses): Operation['responses'] {
  const responses: Operation['responses'] = {
    [route.status]: route.status === 101
      ? { description: 'Switching Protocols.', headers: {}, content: {} }
      : success(route.response.json, route.contentType ?? json),
  };
  for (const [status, { json: schema }] of Object.entries(route.alternatives ?? {})) {
    responses[status] = success(schema, json);
  }
  for (const [status, found] of errorsByStatus(route)) {
    if (responses[status] !== undefined) continue;
    const name = found.join('_or_');
    shared[name] ??= errorResponse(found);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

function success(schema: JsonSchema, contentType: string): ResponseObject {
  return {
    description: 'Done.',
    headers: { 'X-Request-Id': header('X-Request-Id') },
    content: { [contentType]: { schema } },
  };
}

function errorResponse(found: readonly ErrorCode[]): ResponseObject {
  const mayRetry = found.some((code) =>
    errorCodes[code].status === 429 || code === 'unavailable' || code === 'hook_busy'
  );
  return {
    description: found.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join(' '),
    headers: {
      'X-Request-Id': header('X-Request-Id'),
      ...(mayRetry ? { 'Retry-After': header('Retry-After') } : {}),
    },
    content: { [json]: { schema: errorSchema(found) } },
  };
}

function header(name: keyof typeof headers): Reference {
  return { $ref: `#/components/headers/${name}` };
}

function anyError(): JsonSchema {
  return errorSchema(Object.keys(errorCodes));
}

function errorSchema(found: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: { code: { type: 'string', enum: [...found] }, message: { type: 'string' } },
    required: ['code', 'message'],
    additionalProperties: false,
  };
}

const headers = {
  'X-Request-Id': {
    description: "The caller's own request id, or a new one; logs and audit entries carry it.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
} as const satisfies OpenApiDocument['components']['headers'];

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_at',
    description: 'Set by login and refresh; `svc` is the setting `http.cookie_prefix`. ' +
      'A request that changes something also needs an `Origin` of its own host or of the CORS allowlist.',
  },
};
