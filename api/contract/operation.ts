// Describes one operation of the API in OpenAPI (https://spec.openapis.org/oas/v3.1.1.html#operation-object), from its route.
import { type ErrorCode, errorCodes } from '../errors.ts';
import { errorSchema } from './error-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { describeParameters, type Parameter } from './parameters.ts';
import { routeErrorsByStatus } from './route-errors.ts';
import { keyNeeds, whoMayCall } from './route-traits.ts';
import type { AnyRoute } from './route.ts';

interface Reference {
  $ref: string;
}

interface MediaType {
  schema: JsonSchema | Reference;
}

/** A response, or the common part of several. */
export interface ResponseObject {
  description: string;
  headers: Record<string, Reference>;
  content: Record<string, MediaType>;
}

/** An operation. */
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, never[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
}

/** Responses that several operations refer to, by name. */
export type SharedResponses = Record<string, ResponseObject>;

const json = 'application/json';
/** Of responses with bytes of any type. */
const anyType = '*/*';
/** The one status of a response without a body. */
const notModified = 304;

/**
 * Describes the operation of a route, and adds the responses that it refers to. Throws `RangeError` for a path parameter without a
 * description.
 */
export function describeOperation(route: AnyRoute, shared: SharedResponses): Operation {
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

function describeResponses(route: AnyRoute, shared: SharedResponses): Operation['responses'] {
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
    content: { [contentType]: { schema: contentType === anyType ? withoutType(schema) : schema } },
  };
}

/** Bytes are no JSON, so their schema says nothing of a type (section 4.8.14 of the specification). */
function withoutType({ description }: JsonSchema): JsonSchema {
  return description === undefined ? {} : { description };
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

function header(name: keyof typeof responseHeaders): Reference {
  return { $ref: `#/components/headers/${name}` };
}

/** The headers that responses refer to. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'The caller’s request id, or a new one. Logs and audit entries contain it.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
} as const satisfies Record<string, { description: string; schema: JsonSchema }>;
