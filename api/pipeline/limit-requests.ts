// The rate limit of HTTP requests: the first check, made before a request costs anything else.
import type { RequestListener } from 'node:http';
import type { Deps } from '../deps.ts';
import type { Header } from '../http/header-list.ts';
import { clientAddressOf, headerOf, requestIdOf } from '../http/request-info.ts';
import { jsonContent, notStored, writeHead } from '../http/response-headers.ts';
import { defaultHeaders, type RequestGuards } from './guards.ts';
import { rateLimitError } from './rate-limit.ts';

const closing: Header = ['Connection', 'close'];
const healthCheck = /^\/healthz(?:\?|$)/;

/**
 * Lets the requests through that the rate limit admits. Others get `429`, without a log line of their own; a client that does
 * not heed it loses its connection.
 */
export function limitRequests(
  handler: RequestListener,
  { config, now }: Pick<Deps, 'config' | 'now'>,
  guards: RequestGuards,
): RequestListener {
  return (request, response) => {
    const ip = clientAddressOf(request, config.http.trust_proxy);
    // Whoever watches the server must see that it is alive, whatever else comes from the same address.
    const limit = healthCheck.test(request.url ?? '') ? guards.limitHealthChecks : guards.limit;
    const seconds = limit(ip, now().getTime());
    if (seconds === 0) return handler(request, response);
    guards.refusals.add(ip, 429);
    const { code, message, status, headers } = rateLimitError(seconds);
    const body = JSON.stringify({ code, message });
    const ids = {
      requestId: requestIdOf(request),
      origin: headerOf(request, 'origin'),
      path: request.url ?? '',
    };
    const length: Header = ['Content-Length', String(Buffer.byteLength(body))];
    const all = [...defaultHeaders(guards, ids), jsonContent, notStored, ...headers, length];
    if (guards.refusals.isFlooding(ip)) all.push(closing);
    writeHead(response, status, all).end(body);
  };
}
