// Describes the API as OpenAPI 3.1, from the route literals (https://spec.openapis.org/oas/v3.1.1.html).
import { type ErrorCode, errorCodes } from '../errors.ts';
import { errorSchema, fieldErrorSchema } from './error-schema.ts';
import { describeParameters, type Parameter } from './parameters.ts';
import { allErrorCodes, routeErrorsByStatus } from './route-errors.ts';
import { keyNeeds, whoMayCall } from './route-traits.ts';
import type { AnyRoute } from './route.ts';
import type { JsonSchema } from './json-schema.ts';

interface Reference {
  $ref: string;
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

/** An OpenAPI document. Its order follows the list of routes, so that equal lists give equal text. */
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
/** The one status of a response without a body. */
const notModified = 304;
/** The version of the API, which is that of the program: a test compares it with package.json. */
const version = '0.2.0';

/** Describes routes. Throws `RangeError` for a path parameter without a description. */
export function describeApi(routes: readonly AnyRoute[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const responses: Responses = {};
  for (const route of routes) {
    const operations = paths[toTemplate(route.path)] ??= {};
    operations[route.method.toLowerCase()] = describeOperation(route, responses);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bulkhead',
      version,
      description: 'A multi-tenant backend server. Every GET route supports HEAD too. ' +
        'On an existing path, any other method gets 405 with `Allow`.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Error: errorSchema(allErrorCodes), FieldError: fieldErrorSchema },
      headers,
      responses,
      securitySchemes,
    },
  };
}

function toTemplate(path: string): string {
  return path.replaceAll(/(?:\*\*)?:([a-z]+)/g, '{$1}');
}

function describeOperation(route: AnyRoute, shared: Responses): Operation {
  const parameters = describeParameters(route);
  const requestBody = describeRequestBody(route);
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: describeCallers(route),
    tags: [findResource(route.path)],
    security: describeSecurity(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: describeResponses(route, shared),
  };
}

function describeCallers(route: AnyRoute): string {
  const needs = keyNeeds(route);
  return `Allowed callers: ${whoMayCall(route)}.${needs === undefined ? '' : ` API keys: ${needs}.`}`;
}

function describeRequestBody(
  { body, bodyMayBeEmpty, acceptsForm, readsBody, passesBody }: AnyRoute,
): Operation['requestBody'] {
  if (body !== undefined) {
    const content: Record<string, MediaType> = { [json]: { schema: body.json } };
    if (acceptsForm === true) content['multipart/form-data'] = { schema: formSchema };
    return { required: bodyMayBeEmpty !== true, content };
  }
  // Bytes are no JSON, so their schema is empty (section 4.8.14 of the specification).
  return readsBody === true || passesBody === true
    ? { required: false, content: { '*/*': { schema: {} } } }
    : undefined;
}

/** Parts with a file name are files, all others texts; which names there are is up to the collection. */
const formSchema: JsonSchema = {
  type: 'object',
  additionalProperties: true,
  description:
    'A part for each value or file, by the name of its field. `@jsonPayload` may have more values, as a JSON object.',
};

function operationId({ method, path }: AnyRoute): string {
  const words = path.split('/').filter((word) => word !== '').map((word) =>
    word.startsWith(':') ? `by-${word.slice(1)}` : word
  );
  return [method.toLowerCase(), ...words].join('-').replaceAll(
    /[^a-z]+([a-z0-9])/gi,
    (_, next: string) => next.toUpperCase(),
  );
}

/** The resources that operations are grouped by. The first one here that a path has is its own. */
const resources = [
  'auth',
  'records',
  'collections',
  'files',
  'hooks',
  'policies',
  'usage',
  'audit',
  'admins',
  'users',
  'apps',
  'workspaces',
];

/** The resource of a path; `server` when it has none. */
function findResource(path: string): string {
  const parts = path.split('/');
  return resources.find((tag) => parts.includes(tag)) ?? 'server';
}

function describeSecurity({ scope }: AnyRoute): Record<string, never[]>[] {
  if (scope === 'open') return [];
  const token: Record<string, never[]>[] = [{ bearer: [] }, { cookie: [] }];
  return scope === 'anyone' ? [{}, ...token] : token;
}

function describeResponses(route: AnyRoute, shared: Responses): Operation['responses'] {
  const done = successResponse(route.response.json, route.contentType ?? json);
  for (const [type, description] of Object.entries(route.rawTypes ?? {})) {
    done.content[type] = { schema: { type: 'string', description } };
  }
  const responses: Operation['responses'] = {
    [route.status]: route.status === 101
      ? { ...done, description: 'Switching Protocols.', content: {} }
      : done,
  };
  for (const [status, { json: schema }] of Object.entries(route.otherResponses ?? {})) {
    responses[status] = successResponse(schema, json);
  }
  for (const [status, description] of Object.entries(route.rawStatuses ?? {})) {
    const like = successResponse(route.response.json, route.contentType ?? json);
    responses[status] = { ...like, description, ...(Number(status) === notModified ? { content: {} } : {}) };
  }
  for (const [status, found] of routeErrorsByStatus(route)) {
    if (responses[status] !== undefined) continue;
    const name = found.join('_or_');
    shared[name] ??= errorResponse(found);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

function successResponse(schema: JsonSchema, contentType: string): ResponseObject {
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

const headers = {
  'X-Request-Id': {
    description: 'The caller’s request id, or a new one. Logs and audit entries contain it.',
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
    description:
      'Set by login and refresh. `svc` is the setting `http.cookie_prefix`. A request that changes ' +
      'something also needs an `Origin` that is the server’s own or among the origins of the token’s workspace.',
  },
};
