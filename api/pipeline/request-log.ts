// The log lines of a request.
import type { Deps } from '../deps.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { Principal } from '../scope.ts';
import type { AnyTarget } from '../target.ts';

/** Facts of a request, found step by step, for its log line and for the explanation of its failure. */
export interface RequestLog {
  /** The pattern of the route. */
  route: string;
  principal: Principal | null;
  target: AnyTarget;
}

/** Logs a request that has its response; of a stream, which goes on, its beginning. */
export function logRequest(
  deps: Pick<Deps, 'now' | 'observe'>,
  { method, requestId, now }: Pick<RequestInfo, 'method' | 'requestId' | 'now'>,
  { route, principal }: Pick<RequestLog, 'route' | 'principal'>,
  status: number,
): void {
  deps.observe({
    type: 'request_done',
    method,
    route,
    status,
    ms: deps.now().getTime() - now.getTime(),
    request_id: requestId,
    principal: principal?.role ?? 'none',
    workspace: principal?.workspace,
    impersonator: principal?.impersonator?.id,
    key: principal?.key && principal.id,
  });
}

/** Logs the error behind a response that does not say it. */
export function logRequestFailure(
  { observe }: Pick<Deps, 'observe'>,
  { requestId }: Pick<RequestInfo, 'requestId'>,
  error: unknown,
): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = stack === undefined ? {} : { stack };
  observe({ type: 'request_failed', request_id: requestId, error: message, ...trace });
}
