// The guards before every route, of HTTP requests and WebSockets alike: made once in a process.
import { readRefreshToken } from '../auth/tokens/refresh-tokens.ts';
import type { Deps } from '../deps.ts';
import type { HeaderList } from '../http/header-list.ts';
import { createLargeBodyQueue, type LargeBodyQueue } from '../http/protection/large-body-queue.ts';
import { memoryLimit, type ReserveMemory } from '../http/protection/memory-limit.ts';
import { Refusals } from '../http/protection/refusals.ts';
import type { CacheSync } from '../process/cache-sync.ts';
import type { Authenticator } from './authenticate.ts';
import { bytesReader, jsonReader, type ReadBytes, type ReadJson } from './body.ts';
import { type Cors, cors } from './cors.ts';
import { type RateLimit, rateLimit } from './rate-limit.ts';
import { securityHeaders } from './security-headers.ts';

/** The guards of one process. */
export interface RequestGuards {
  limit: RateLimit;
  /** That of `/healthz`. */
  limitHealthChecks: RateLimit;
  refusals: Refusals;
  reserve: ReserveMemory;
  readBytes: ReadBytes;
  readJson: ReadJson;
  largeBodies: LargeBodyQueue;
  cors: Cors;
  authenticator: Authenticator;
  cacheSync: Pick<CacheSync, 'untilFresh'>;
  /** Empty when `http.security_headers` is false. */
  securityHeaders: HeaderList;
}

/** The memory that the requests of one address may take, in bytes: a few of the longest pages, or thirty bodies. */
const maxReservedBytes = 256 * 1_048_576;

/** More than any balancer asks for. */
const healthCheckRate = { per_second: 50, burst: 100 };

/** Makes the guards. */
export function createGuards(
  { config, tokens, apiKeys, allowedOrigins, secrets, observe, traffic }: Pick<
    Deps,
    'config' | 'tokens' | 'apiKeys' | 'allowedOrigins' | 'secrets' | 'observe' | 'traffic'
  >,
  cacheSync: RequestGuards['cacheSync'],
): RequestGuards {
  const largeBodies = createLargeBodyQueue(() => traffic.lull());
  const readBytes = bytesReader(config.http.max_body_bytes, largeBodies);
  return {
    limit: rateLimit(config.rate_limit),
    limitHealthChecks: rateLimit({ ...healthCheckRate, enabled: config.rate_limit.enabled }),
    refusals: new Refusals(observe, config.rate_limit.enabled ? config.rate_limit.burst / 2 : Infinity),
    reserve: config.rate_limit.enabled ? memoryLimit(maxReservedBytes) : () => undefined,
    readBytes,
    readJson: jsonReader(readBytes, largeBodies),
    largeBodies,
    cors: cors(allowedOrigins),
    authenticator: {
      tokens,
      apiKeys,
      limitKey: rateLimit(config.rate_limit, (id) => id),
      allowedOrigins,
      workspaceOf: (token) => readRefreshToken(secrets, token)?.workspace,
      deps: { config },
    },
    cacheSync,
    securityHeaders: config.http.security_headers ? securityHeaders : [],
  };
}

/** The headers that every response to a request with this id, path and `Origin` carries. */
export function defaultHeaders(
  { cors, securityHeaders }: Pick<RequestGuards, 'cors' | 'securityHeaders'>,
  { requestId, origin, path }: { requestId: string; origin: string | undefined; path: string },
): HeaderList {
  return [['X-Request-Id', requestId], ...securityHeaders, ...cors.headersFor(origin, path)];
}
