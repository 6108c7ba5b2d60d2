// Cross-origin requests: an allowlist; empty means same-origin only (https://fetch.spec.whatwg.org/#http-cors-protocol).
import type { HeaderList } from '../http/header-list.ts';

/** What the allowlist says of an origin. */
export interface Cors {
  allows(origin: string): boolean;
  /** Headers for an answer to a request from this origin; none when it is not allowed. */
  headersFor(origin: string | undefined): HeaderList;
  /** Headers for a preflight that asks for these request headers, or undefined when the origin is not allowed. */
  preflight(origin: string, asked: string | undefined): HeaderList | undefined;
}

const exposed = 'X-Request-Id, X-Filename, Retry-After, ETag, Content-Range';
const none: HeaderList = [];

/** Reads `cors.allowed_origins`: whole origins; the configuration refuses `*`. */
export function cors(allowedOrigins: readonly string[]): Cors {
  const listed = new Set(allowedOrigins);
  const varies: HeaderList = listed.size > 0 ? [['Vary', 'Origin']] : none;
  const headersFor = (origin: string | undefined): HeaderList => {
    if (origin === undefined) return varies;
    if (listed.has(origin)) {
      return [
        ...varies,
        ['Access-Control-Allow-Origin', origin],
        ['Access-Control-Allow-Credentials', 'true'],
        ['Access-Control-Expose-Headers', exposed],
      ];
    }
    return varies;
  };
  return {
    allows: (origin) => listed.has(origin),
    headersFor,
    preflight: (origin, asked) =>
      listed.has(origin)
        ? [
          ...headersFor(origin),
          ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
          // Custom routes read headers that only their authors know.
          ...asked === undefined ? none : [['Access-Control-Allow-Headers', asked] as const],
          ['Access-Control-Max-Age', '600'],
        ]
        : undefined,
  };
}
