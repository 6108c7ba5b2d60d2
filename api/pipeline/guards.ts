// What stands at the door for every request, whichever protocol it asks for: made once, shared by all of them.
import type { Deps } from '../deps.ts';
import { clearedAccessCookie } from '../auth/sessions/cookies.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { CacheSync } from '../process/cache-sync.ts';
import { createLargeBodyQueue, type LargeBodyQueue } from '../http/protection/large-body-queue.ts';
import type { Authenticator } from './authenticate.ts';
import { bytesReader, jsonReader, type ReadBytes, type ReadJson } from './body.ts';
import { type Cors, cors } from './cors.ts';
import { memoryLimit, type ReserveMemory } from '../http/protection/memory-limit.ts';
import { type RateLimit, rateLimit } from './rate-limit.ts';
import { securityHeaders } from './security-headers.ts';

/** The door of one process. */
export interface RequestGuards {
  limit: RateLimit;
  reserve: ReserveMemory;
  readBytes: ReadBytes;
  readJson: ReadJson;
  largeBodies: LargeBodyQueue;
  cors: Cors;
  authenticator: Authenticator;
  cacheSync: Pick<CacheSync, 'untilFresh'>;
  /** The security headers of every answer. */
  securityHeaders: HeaderList;
}

/** A few pages of the longest, or thirty bodies. */
const mostHeld = 256 * 1_048_576;

/** Makes the door. */
export function createGuards(
  { config, tokens }: Pick<Deps, 'config' | 'tokens'>,
  hearing: RequestGuards['cacheSync'],
): RequestGuards {
  const allowlist = cors(config.cors.allowed_origins);
  const largeTurns = createLargeBodyQueue();
  const readBytes = bytesReader(config.http.max_body_bytes, largeTurns);
  return {
    limit: rateLimit(config.rate_limit),
    reserve: config.rate_limit.enabled ? memoryLimit(mostHeld) : () => undefined,
    readBytes,
    readJson: jsonReader(readBytes),
    largeBodies: largeTurns,
    cors: allowlist,
    authenticator: {
      tokens,
      cors: allowlist,
      cookiePrefix: config.http.cookie_prefix,
      clearedCookie: clearedAccessCookie(config),
    },
    cacheSync: hearing,
    securityHeaders: config.http.security_headers ? securityHeaders : [],
  };
}

/** The headers that every answer carries to a request of this id from this origin. */
export function defaultHeaders(
  { cors, securityHeaders: standing }: RequestGuards,
  { requestId, origin }: { requestId: string; origin: string | undefined },
): HeaderList {
  return [['X-Request-Id', requestId], ...standing, ...cors.headersFor(origin)];
}
