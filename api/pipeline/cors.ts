// Cross-origin requests: an allowlist; empty means same-origin only (https://fetch.spec.whatwg.org/#http-cors-protocol).
import type { HeaderList } from '../http/header-list.ts';
import type { BufferedResponse } from '../http/node-listener.ts';
import type { RequestInfo } from '../http/request-info.ts';

/** The rules of the allowlist. */
export interface Cors {
  allows(origin: string): boolean;
  /** Headers of a response to a request from this origin; none when it is not allowed. */
  headersFor(origin: string | undefined): HeaderList;
  /** Headers of the response to a preflight for these request headers; undefined when the origin is not allowed. */
  preflight(origin: string, requestHeaders: string | undefined): HeaderList | undefined;
}

const exposed = 'X-Request-Id, X-Filename, Retry-After, ETag, Content-Range';
const none: HeaderList = [];

/** Makes the rules of `cors.allowed_origins`: whole origins, as the configuration refuses `*`. */
export function cors(allowedOrigins: readonly string[]): Cors {
  const listed = new Set(allowedOrigins);
  const varies: HeaderList = listed.size > 0 ? [['Vary', 'Origin']] : none;
  const headersFor = (origin: string | undefined): HeaderList => {
    if (origin === undefined || !listed.has(origin)) return varies;
    return [
      ...varies,
      ['Access-Control-Allow-Origin', origin],
      ['Access-Control-Allow-Credentials', 'true'],
      ['Access-Control-Expose-Headers', exposed],
    ];
  };
  return {
    allows: (origin) => listed.has(origin),
    headersFor,
    preflight: (origin, requestHeaders) =>
      listed.has(origin)
        ? [
          ...headersFor(origin),
          ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
          // Custom routes read headers that only their authors know.
          ...requestHeaders === undefined
            ? none
            : [['Access-Control-Allow-Headers', requestHeaders] as const],
          ['Access-Control-Max-Age', '600'],
        ]
        : undefined,
  };
}

/** The response to a preflight request of an allowed origin; undefined for any other request. */
export function preflightResponse(cors: Cors, request: RequestInfo): BufferedResponse | undefined {
  if (request.method !== 'OPTIONS') return undefined;
  const origin = request.header('origin');
  if (origin === undefined || request.header('access-control-request-method') === undefined) return undefined;
  const headers = cors.preflight(origin, request.header('access-control-request-headers'));
  return headers === undefined ? undefined : { status: 204, headers, body: null };
}
