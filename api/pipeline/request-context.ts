// Makes what a route's handler sees of a request.
import type { FormStream, RequestContext, ResponseOverrides } from '../contract/route.ts';
import type { Deps } from '../deps.ts';
import { cookieName } from '../auth/sessions/cookies.ts';
import { queryParameters } from '../http/query-parameters.ts';
import type { RequestInfo } from '../http/request-info.ts';
import { PageMemory } from '../records/page-memory.ts';
import type { Principal, Scope } from '../scope.ts';
import type { AnyTarget } from '../target.ts';
import { readBearer, readCookie } from './authenticate.ts';
import { bodyStreamOf } from './body.ts';

/** The results of the steps before the handler. */
interface Findings {
  principal: Principal | null;
  params: Readonly<Record<string, string>>;
  target: AnyTarget;
  overrides: ResponseOverrides;
}

/** The context of a request whose query and body have not been read yet. */
export function createContext(
  deps: Deps,
  request: RequestInfo,
  { principal, params, target, overrides }: Findings,
): RequestContext<string, Scope, unknown, unknown> {
  const { appHost } = request;
  const cookie = (name: 'at' | 'rt' | 'kc') => readCookie(request, cookieName({ deps, appHost }, name));
  return {
    deps,
    params,
    target,
    principal,
    appHost,
    overrides,
    query: undefined,
    body: undefined,
    admitted: undefined,
    form: undefined,
    queryParameters: () => queryParameters(request.event.url.search),
    origin: {
      requestId: request.requestId,
      ip: request.ip,
      userAgent: request.header('user-agent') ?? '',
      // No getter: V8 would make a hidden class for each request, each kept by the one before.
      knownClient: () => cookie('kc'),
    },
    cookie,
    pageMemory: () => new PageMemory(deps, target.workspace?.id ?? '', request),
    bodyStream: () => bodyStreamOf(request),
    header: (name) => request.header(name),
    bearer: () => readBearer(request),
    now: request.now,
  };
}

/** The form of a request, for its handler. */
export function formOf(request: RequestInfo, maxValueBytes: number): FormStream {
  return { ...bodyStreamOf(request), maxValueBytes, reserve: (bytes) => request.reserve(bytes) };
}
