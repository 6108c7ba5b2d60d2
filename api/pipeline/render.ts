// Renders responses: the headers that every response carries, errors, and responses that handlers write themselves.
import { type AnyRoute, RawResponse, type ResponseOverrides } from '../contract/route.ts';
import type { Deps } from '../deps.ts';
import { errorBody, fail, mustBeLogged, toApiError } from '../errors.ts';
import { networkOf } from '../http/client-network.ts';
import type { Header, HeaderList } from '../http/header-list.ts';
import { type BufferedResponse, HandledResponse, PreparedResponse } from '../http/node-listener.ts';
import { openFileBytes } from '../http/protection/memory-limit.ts';
import type { RequestInfo } from '../http/request-info.ts';
import { bodyLength, type ResponseBody } from '../http/response-body.ts';
import { jsonContent, notStored } from '../http/response-headers.ts';
import type { RouteMatch } from '../http/router.ts';
import { defaultHeaders, type RequestGuards } from './guards.ts';
import { pathParameters } from './parameters.ts';
import { logRequestFailure } from './request-log.ts';

const json: HeaderList = [jsonContent];

/** The response of a route with this body. */
export function bufferedResponse(
  { status, contentType }: AnyRoute,
  overrides: ResponseOverrides,
  body: ResponseBody,
): BufferedResponse {
  const type: HeaderList = contentType === undefined ? json : [['Content-Type', contentType]];
  return {
    status: overrides.status ?? status,
    headers: overrides.headers.length === 0 ? type : [...type, ...overrides.headers],
    body,
  };
}

/** The response to a request that failed; logs the failures that only an operator can explain or repair. */
export function errorResponse(
  deps: Pick<Deps, 'observe'>,
  request: RequestInfo,
  error: unknown,
): BufferedResponse {
  const refusal = toApiError(error);
  if (mustBeLogged(error, refusal.code)) logRequestFailure(deps, request, error);
  const { status, headers } = refusal;
  return { status, headers: [jsonContent, ...headers], body: JSON.stringify(errorBody(refusal)) };
}

/** Ends a request whose path has no route for its method, or none at all. */
export function refuseWithoutRoute({ allow }: RouteMatch): never {
  if (allow !== undefined) fail('method_not_allowed', `this path responds to ${allow}`, [['Allow', allow]]);
  fail('not_found', 'there is no such route');
}

/** Adds the headers that every response carries. */
export function renderResponse(
  { securityHeaders, cors }: Pick<RequestGuards, 'securityHeaders' | 'cors'>,
  request: RequestInfo,
  { status, headers, body }: BufferedResponse,
): Response {
  const all: Header[] = [...securityHeaders, ['X-Request-Id', request.requestId]];
  const isPreflight = status === 204 && request.method === 'OPTIONS';
  if (!isPreflight) all.push(...cors.headersFor(request.header('origin'), request.event.url.pathname));
  all.push(...headers);
  // Without it, a browser that goes back shows what it stored to whoever is signed in by then.
  if (!headers.some(([name]) => name === 'Cache-Control')) all.push(notStored);
  if (body !== null) all.push(['Content-Length', String(bodyLength(body))]);
  return new PreparedResponse({ status, headers: all, body });
}

/**
 * Lets a handler write its response to Node's; does not wait for the end. Throws what the handler throws, as long as nothing
 * is written.
 */
export async function startRawResponse(
  guards: RequestGuards,
  request: RequestInfo,
  raw: RawResponse,
): Promise<Response> {
  const response = request.nodeResponse();
  await raw.write({
    response,
    headers: defaultHeaders(guards, {
      requestId: request.requestId,
      origin: request.header('origin'),
      path: request.event.url.pathname,
    }),
    address: networkOf(request.ip),
    reserveFile: () => request.reserve(openFileBytes),
    body: () => guards.readBytes(request, pathParameters(request)['workspace']),
  });
  return new HandledResponse(null, { status: response.statusCode });
}
