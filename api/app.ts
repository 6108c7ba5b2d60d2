// The whole path of a request, step by step: from Node's request to the response.
import type { RequestListener } from 'node:http';
import type { H3Event } from 'h3';
import type { AppDefinition } from '../storage/definition.ts';
import { type AnyRoute, RawResponse, type ResponseOverrides } from './contract/route.ts';
import { canWait, countsForQuota } from './contract/route-traits.ts';
import { explainFailure } from './deleted-tenant.ts';
import type { Deps } from './deps.ts';
import { failDisconnected } from './errors.ts';
import { type BufferedResponse, nodeListener } from './http/node-listener.ts';
import { isFormType } from './http/multipart/part-headers.ts';
import { openFileBytes } from './http/protection/memory-limit.ts';
import { readRequestInfo, requestIdOf, type RequestInfo } from './http/request-info.ts';
import { bodyLength, renderBody } from './http/response-body.ts';
import { mountRoutes, type RouteMatch } from './http/router.ts';
import { authenticate, refuseForeignOrigin } from './pipeline/authenticate.ts';
import { requireOwnRoute, requireScope } from './pipeline/authorize.ts';
import { refuseLongBody } from './pipeline/body.ts';
import { readCheckedBody } from './pipeline/checked-body.ts';
import { preflightResponse } from './pipeline/cors.ts';
import type { RequestGuards } from './pipeline/guards.ts';
import { pathParameters, readQuery } from './pipeline/parameters.ts';
import {
  bufferedResponse,
  errorResponse,
  refuseWithoutRoute,
  renderResponse,
  startRawResponse,
} from './pipeline/render.ts';
import { createContext, formOf } from './pipeline/request-context.ts';
import { logRequest, logRequestFailure, type RequestLog } from './pipeline/request-log.ts';
import { requireReady } from './pipeline/setup-gate.ts';
import { wantsWelcomePage, welcomePage } from './pipeline/welcome-page.ts';
import { findTarget } from './target.ts';
import { noteExceeded } from './usage/quota.ts';

/** The parts that the steps of a request share. */
interface Pipeline extends RequestGuards {
  deps: Deps;
}

/** Makes the listener that serves a list of routes. */
export function serveRoutes(
  deps: Deps,
  guards: RequestGuards,
  routes: readonly AnyRoute[],
): RequestListener {
  const pipeline: Pipeline = { deps, ...guards };
  const app = mountRoutes(routes, (event, match) => serve(pipeline, event, match));
  return nodeListener(app, {
    onFailure: (request, error) => logRequestFailure(deps, { requestId: requestIdOf(request) }, error),
  });
}

/** Serves one request and logs it. Never throws. */
async function serve(pipeline: Pipeline, event: H3Event, match: RouteMatch): Promise<Response> {
  const { deps } = pipeline;
  const request = readRequestInfo(event, { deps, reserve: pipeline.reserve });
  const log: RequestLog = { route: match.route?.path ?? '(none)', principal: null, target: {} };
  const hasPriority = match.route === undefined || !canWait(match.route);
  if (hasPriority) deps.traffic.started(request.now.getTime());
  let response: Response;
  try {
    const result = await respond(pipeline, request, match, log);
    response = result instanceof RawResponse
      ? await startRawResponse(pipeline, request, result)
      : renderResponse(pipeline, request, result);
  } catch (thrown) {
    const error = await explainFailure(deps.definitions, log.target, thrown);
    noteExceeded(deps, error, log.target.workspace?.id);
    response = renderResponse(pipeline, request, errorResponse(deps, request, error));
  }
  if (hasPriority) deps.traffic.ended();
  logRequest(deps, request, log, response.status);
  return response;
}

/**
 * The steps of a request. Their order is part of the contract (docs/reference/order-of-checks.md). A step whose result is
 * known at once is not awaited, because every `await` costs a turn of the microtask queue.
 */
async function respond(
  pipeline: Pipeline,
  request: RequestInfo,
  match: RouteMatch,
  log: RequestLog,
): Promise<BufferedResponse | RawResponse> {
  const { deps } = pipeline;
  const preflight = preflightResponse(pipeline.cors, request);
  if (preflight !== undefined) return preflight;
  if (match.route === undefined && wantsWelcomePage(request)) return await welcomePage(deps, request);
  const ready = match.route?.beforeSetup === true ? undefined : requireReady(deps, pipeline);
  if (ready !== undefined) await ready;
  const params = pathParameters(request);
  const route = requireOwnRoute(request.appHost, match.route ?? refuseWithoutRoute(match), params);
  const isStreamed = route.readsBody === true || hasForm(route, request);
  if (!isStreamed) refuseLongBody(request, deps.config.http.max_body_bytes);
  if (route.refusesForeignOrigin === true) await refuseForeignOrigin(request, pipeline.authenticator);

  const authenticated = route.scope === 'open' ? null : authenticate(request, pipeline.authenticator);
  const principal = log.principal = authenticated instanceof Promise ? await authenticated : authenticated;
  const { workspace } = params;
  requireScope(route, principal, params);
  const found = findTarget(deps.definitions, params);
  const target = log.target = found instanceof Promise ? await found : found;
  const counted = target.app === undefined ? undefined : countUse(deps, route, target.app);
  if (counted !== undefined) await counted;

  if (isStreamed) request.reserve(openFileBytes);
  if (route.needsDisk === true) deps.disk.requireSpace();
  const overrides: ResponseOverrides = { status: undefined, headers: [] };
  const context = createContext(deps, request, { principal, params, target, overrides });
  const admitted = route.admit?.(context);
  context.admitted = admitted instanceof Promise ? await admitted : admitted;
  const reading = readBody(pipeline, request, { route, context, workspace });
  if (reading !== undefined) context.body = await reading;
  if (route.query !== undefined) context.query = readQuery(request, route.query);

  const handled = route.handle(context);
  const result = handled instanceof Promise ? await handled : handled;
  if (result instanceof RawResponse) return result;
  const waitForTurn = async () => {
    await pipeline.largeBodies(workspace);
    // A write has been done by now, so its response must not deny it.
    if (request.method === 'GET' && request.isDisconnected()) failDisconnected();
  };
  const rendered = renderBody(result, { contentType: route.contentType, waitForTurn });
  const body = rendered instanceof Promise ? await rendered : rendered;
  if (request.method === 'GET') request.reserve(bodyLength(body));
  return bufferedResponse(route, overrides, body);
}

function hasForm({ acceptsForm }: AnyRoute, request: RequestInfo): boolean {
  return acceptsForm === true && isFormType(request.header('content-type'));
}

/** The body that a route declares, if it does. A form is left to the handler. */
function readBody(
  { deps, readJson }: Pipeline,
  request: RequestInfo,
  { route, context, workspace }: {
    route: AnyRoute;
    context: ReturnType<typeof createContext>;
    workspace: string | undefined;
  },
): Promise<unknown> | undefined {
  if (route.body === undefined) return undefined;
  if (!hasForm(route, request)) return readCheckedBody(readJson, request, { route, context, workspace });
  context.form = formOf(request, deps.config.http.max_body_bytes);
  context.body = {};
  return undefined;
}

function countUse(
  { activity, quotas }: Deps,
  route: AnyRoute,
  app: AppDefinition,
): Promise<void> | undefined {
  activity.request(app);
  return countsForQuota(route) ? quotas.request(app) : undefined;
}
