// Cross-origin requests: origins that are allowed, some with cookies; none means same-origin only (https://fetch.spec.whatwg.org/#http-cors-protocol).
import type { AllowedOrigins } from '../auth/sessions/allowed-origins.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { BufferedResponse } from '../http/node-listener.ts';
import type { RequestInfo } from '../http/request-info.ts';

/** The rules of the allowed origins. */
export interface Cors {
  /** Headers of a response to a request from this origin for this path; none when the origin is not allowed. */
  headersFor(origin: string | undefined, path: string): HeaderList;
}

const exposed = 'X-Request-Id, X-Filename, Retry-After, ETag, Content-Range';
const none: HeaderList = [];
const vary = ['Vary', 'Origin'] as const;
const workspacePath = /^(?:https?:\/\/[^/?#]+)?\/api\/workspaces\/([^/?#]+)/;

/** Makes the rules. A page may send cookies for paths of its workspaces, and for those that belong to no workspace. */
export function cors(allowed: AllowedOrigins): Cors {
  return {
    headersFor(origin, path) {
      if (allowed.isEmpty) return none;
      // Percent-encoded, it is the name of no workspace here: no page has a reason for that.
      const [, workspace] = workspacePath.exec(path) ?? [];
      const rights = origin === undefined ? 'none' : allowed.rightsAt(origin, workspace);
      if (origin === undefined || rights === 'none') return [vary];
      return [
        vary,
        ['Access-Control-Allow-Origin', origin],
        ...rights === 'cookies' ? [['Access-Control-Allow-Credentials', 'true'] as const] : none,
        ['Access-Control-Expose-Headers', exposed],
      ];
    },
  };
}

/** The response to a preflight request of an allowed origin; undefined for any other request. */
export function preflightResponse(cors: Cors, request: RequestInfo): BufferedResponse | undefined {
  if (request.method !== 'OPTIONS') return undefined;
  const origin = request.header('origin');
  if (origin === undefined || request.header('access-control-request-method') === undefined) return undefined;
  const headers = cors.headersFor(origin, request.event.url.pathname);
  if (!headers.some(([name]) => name === 'Access-Control-Allow-Origin')) return undefined;
  // Custom routes read headers that only their authors know.
  const requested = request.header('access-control-request-headers');
  const allowedHeaders: HeaderList = requested === undefined
    ? none
    : [['Access-Control-Allow-Headers', requested]];
  return {
    status: 204,
    headers: [
      ...headers,
      ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
      ...allowedHeaders,
      ['Access-Control-Max-Age', '600'],
    ],
    body: null,
  };
}
