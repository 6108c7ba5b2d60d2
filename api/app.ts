// The whole path of a request on one screen, in order; and the routes it is mounted on.
import type { H3, H3Event } from 'h3';
import { bodyLength, renderBody } from './http/response-body.ts';
import { mountRoutes, type RouteMatch } from './http/router.ts';
import type { Deps } from './deps.ts';
import { ApiError, fail, mustBeLogged, toApiError } from './errors.ts';
import { explainFailure } from './deleted-tenant.ts';
import type { Header, HeaderList } from './http/header-list.ts';
import { jsonContent, notStored } from './http/response-headers.ts';
import { readRequestInfo, type RequestInfo } from './http/request-info.ts';
import { authenticate, readBearer, readCookie, refuseForeignOrigin } from './pipeline/authenticate.ts';
import { requireScope } from './pipeline/authorize.ts';
import { bodyStreamOf, refuseLongBody } from './pipeline/body.ts';
import { readCheckedBody } from './pipeline/checked-body.ts';
import { defaultHeaders, type RequestGuards } from './pipeline/guards.ts';
import { requireReady } from './pipeline/setup-gate.ts';
import { openFileBytes } from './http/protection/memory-limit.ts';
import { type BufferedResponse, HandledResponse, PreparedResponse } from './http/node-listener.ts';
import { pathParameters, readQuery } from './pipeline/parameters.ts';
import { networkOf } from './http/client-network.ts';
import { queryParameters } from './http/query-parameters.ts';
import { type AnyRoute, RawResponse, type RequestContext, type ResponseOverrides } from './contract/route.ts';
import { countsForQuota } from './contract/route-errors.ts';
import type { Principal, Scope } from './scope.ts';
import { type AnyTarget, findTarget } from './target.ts';

type AnyCall = RequestContext<string, Scope, unknown, unknown>;

/** The features' deps, and what stands at the door of every request. */
interface Pipeline extends RequestGuards {
  deps: Deps;
}

/** What the log says of a request once it is answered, and what a failure of it is explained by. */
interface Account {
  pattern: string;
  principal: Principal | null;
  target: AnyTarget;
}

/** Builds the app of a list of routes. */
export function createHttpApp(deps: Deps, door: RequestGuards, routes: readonly AnyRoute[]): H3 {
  const pipeline: Pipeline = { deps, ...door };
  return mountRoutes(routes, (event, match) => respond(pipeline, event, match));
}

/** One request, from arrival to answer. Never throws. */
async function respond(pipeline: Pipeline, event: H3Event, match: RouteMatch): Promise<Response> {
  const { deps } = pipeline;
  const arrival = readRequestInfo(event, { deps, hold: pipeline.reserve });
  const pattern = match.route?.path ?? '(none)';
  const account: Account = { pattern, principal: null, target: {} };
  const hasPriority = match.route === undefined || !canWait(match.route);
  if (hasPriority) deps.traffic.started(arrival.now.getTime());
  let response: Response;
  let status: number;
  try {
    const answer = await answerOf(pipeline, arrival, match, account);
    // What a write has done is not to be answered as if it had not.
    if (arrival.method === 'GET' && 'body' in answer) arrival.reserve(bodyLength(answer.body));
    response = answer instanceof RawResponse
      ? await begin(pipeline, arrival, answer)
      : render(pipeline, arrival, answer);
    status = answer instanceof RawResponse ? arrival.nodeResponse().statusCode : answer.status;
  } catch (thrown) {
    const error = await explainFailure(deps.definitions, account.target, thrown);
    const refusal = toApiError(error);
    status = refusal.status;
    if (mustBeLogged(error, refusal)) reportFailure(deps, arrival, error);
    response = render(pipeline, arrival, renderError(refusal));
  }
  if (hasPriority) deps.traffic.ended();
  const { principal } = account;
  deps.observe({
    type: 'request_done',
    method: arrival.method,
    route: account.pattern,
    status,
    ms: deps.now().getTime() - arrival.now.getTime(),
    request_id: arrival.requestId,
    principal: principal?.role ?? 'none',
    workspace: principal?.workspace,
  });
  return response;
}

/** The order of checks is part of the contract (docs/reference/order-of-checks.md). */
async function answerOf(
  pipeline: Pipeline,
  arrival: RequestInfo,
  match: RouteMatch,
  account: Account,
): Promise<BufferedResponse | RawResponse> {
  const { deps } = pipeline;
  const found = match.route;
  if (found?.unlimited !== true) pipeline.limit(arrival.ip, arrival.now.getTime());
  const preflight = answerPreflight(pipeline, arrival);
  if (preflight !== undefined) return preflight;
  const gate = found?.beforeSetup === true ? undefined : requireReady(deps, pipeline);
  if (gate !== undefined) await gate;
  const route = found ?? refuseWithoutRoute(match);
  if (route.readsBody !== true) refuseLongBody(arrival, deps.config.http.max_body_bytes);
  if (route.refusesForeignOrigin === true) refuseForeignOrigin(arrival, pipeline.cors);
  // What is known at once is not awaited: every await is a turn through the queue of promises.
  const who = route.scope === 'open' ? null : authenticate(arrival, pipeline.authenticator);
  const principal = account.principal = who instanceof Promise ? await who : who;
  const params = pathParameters(arrival);
  requireScope(route, principal, params);
  const where = findTarget(deps.definitions, params);
  const target = account.target = where instanceof Promise ? await where : where;
  if (target.app !== undefined) {
    deps.activity.request(target.app);
    const pacing = countsForQuota(route) ? deps.quotas.request(target.app) : undefined;
    if (pacing !== undefined) await pacing;
  }
  if (route.readsBody === true) arrival.reserve(openFileBytes);
  const reply: ResponseOverrides = { status: undefined, headers: [] };
  const call = callOf(pipeline, arrival, { principal, params, target, reply });
  const admitted = route.admit?.(call);
  call.admitted = admitted instanceof Promise ? await admitted : admitted;
  const { readJson, largeBodies: largeTurns } = pipeline;
  const { workspace } = params;
  if (route.body !== undefined) {
    call.body = await readCheckedBody(route.body, { readJson, arrival, workspace, route, call });
  }
  if (route.query !== undefined) call.query = readQuery(arrival, route.query);
  const answer = route.handle(call);
  const value = answer instanceof Promise ? await answer : answer;
  if (value instanceof RawResponse) return value;
  const body = renderBody(value, { contentType: route.contentType, turn: () => largeTurns(workspace) });
  const type = contentTypeOf(route);
  return {
    status: reply.status ?? route.status,
    headers: reply.headers.length === 0 ? type : [...type, ...reply.headers],
    body: body instanceof Promise ? await body : body,
  };
}

/** True for uploads and for signing in, which make way for other requests themselves. */
function canWait({ path, readsBody }: AnyRoute): boolean {
  return readsBody === true || path.includes('/auth/');
}

const json: HeaderList = [jsonContent];

function contentTypeOf({ contentType }: AnyRoute): HeaderList {
  return contentType === undefined ? json : [['Content-Type', contentType]];
}

function refuseWithoutRoute({ allow }: RouteMatch): never {
  if (allow !== undefined) fail('method_not_allowed', `this path answers ${allow}`, [['Allow', allow]]);
  fail('not_found', 'there is no such route');
}

function callOf(
  pipeline: Pipeline,
  arrival: RequestInfo,
  known: {
    principal: Principal | null;
    params: Readonly<Record<string, string>>;
    target: AnyTarget;
    reply: ResponseOverrides;
  },
): AnyCall {
  const { deps, authenticator } = pipeline;
  return {
    deps,
    params: known.params,
    target: known.target,
    principal: known.principal,
    overrides: known.reply,
    query: undefined,
    body: undefined,
    admitted: undefined,
    queryParameters: () => queryParameters(arrival.event.url.search),
    origin: { requestId: arrival.requestId, ip: arrival.ip, userAgent: arrival.header('user-agent') ?? '' },
    cookie: (name) => readCookie(arrival, `${authenticator.cookiePrefix}_${name}`),
    bodyStream: () => bodyStreamOf(arrival),
    bearer: () => readBearer(arrival),
    now: arrival.now,
  };
}

function answerPreflight(pipeline: Pipeline, arrival: RequestInfo): BufferedResponse | undefined {
  if (arrival.method !== 'OPTIONS') return undefined;
  const origin = arrival.header('origin');
  if (origin === undefined || arrival.header('access-control-request-method') === undefined) return undefined;
  const headers = pipeline.cors.preflight(origin, arrival.header('access-control-request-headers'));
  return headers === undefined ? undefined : { status: 204, headers, body: null };
}

function renderError(error: ApiError): BufferedResponse {
  return {
    status: error.status,
    headers: [jsonContent, ...error.headers],
    body: JSON.stringify({ code: error.code, message: error.message }),
  };
}

/** What throws here has written nothing yet; the log line of a stream is that of its beginning. */
async function begin(pipeline: Pipeline, arrival: RequestInfo, answer: RawResponse): Promise<Response> {
  const { requestId, ip } = arrival;
  const headers = defaultHeaders(pipeline, { requestId, origin: arrival.header('origin') });
  const body = () => pipeline.readBytes(arrival, pathParameters(arrival)['workspace']);
  const holdFile = () => arrival.reserve(openFileBytes);
  await answer.write({
    response: arrival.nodeResponse(),
    headers,
    address: networkOf(ip),
    reserveFile: holdFile,
    body,
  });
  return new HandledResponse();
}

function render(pipeline: Pipeline, arrival: RequestInfo, answer: BufferedResponse): Response {
  const { status, body } = answer;
  const headers: Header[] = [...pipeline.securityHeaders, ['X-Request-Id', arrival.requestId]];
  if (status !== 204 || arrival.method !== 'OPTIONS') {
    headers.push(...pipeline.cors.headersFor(arrival.header('origin')));
  }
  headers.push(...answer.headers);
  // A browser going back would show what it kept to whoever is signed in by then, without asking.
  if (!answer.headers.some(([name]) => name === 'Cache-Control')) headers.push(notStored);
  if (body !== null) headers.push(['Content-Length', String(bodyLength(body))]);
  return new PreparedResponse({ status, headers, body });
}

function reportFailure(deps: Deps, { requestId }: RequestInfo, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = stack === undefined ? {} : { stack };
  deps.observe({ type: 'request_failed', request_id: requestId, error: message, ...trace });
}
