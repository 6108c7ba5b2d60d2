// What stands at the door for every request, whichever protocol it asks for: made once, shared by all of them.
import type { Deps } from '../deps.ts';
import { clearedAccessCookie } from '../auth/sessions/cookies.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { Hearing } from '../process/cache-sync.ts';
import { createLargeTurns, type LargeTurns } from '../http/protection/large-body-queue.ts';
import type { Authenticator } from './authenticate.ts';
import { bytesReader, jsonReader, type ReadBytes, type ReadJson } from './body.ts';
import { type Cors, cors } from './cors.ts';
import { type Hold, holdings } from '../http/protection/memory-limit.ts';
import { type RateLimit, rateLimit } from './rate-limit.ts';
import { securityHeaders } from './security-headers.ts';

/** The door of one process. */
export interface Door {
  limit: RateLimit;
  hold: Hold;
  readBytes: ReadBytes;
  readJson: ReadJson;
  largeTurns: LargeTurns;
  cors: Cors;
  authenticator: Authenticator;
  hearing: Pick<Hearing, 'behind'>;
  /** The security headers of every answer. */
  standing: HeaderList;
}

/** A few pages of the longest, or thirty bodies. */
const mostHeld = 256 * 1_048_576;

/** Makes the door. */
export function createDoor(
  { config, tokens }: Pick<Deps, 'config' | 'tokens'>,
  hearing: Door['hearing'],
): Door {
  const allowlist = cors(config.cors.allowed_origins);
  const largeTurns = createLargeTurns();
  const readBytes = bytesReader(config.http.max_body_bytes, largeTurns);
  return {
    limit: rateLimit(config.rate_limit),
    hold: config.rate_limit.enabled ? holdings(mostHeld) : () => undefined,
    readBytes,
    readJson: jsonReader(readBytes),
    largeTurns,
    cors: allowlist,
    authenticator: {
      tokens,
      cors: allowlist,
      cookiePrefix: config.http.cookie_prefix,
      clearedCookie: clearedAccessCookie(config),
    },
    hearing,
    standing: config.http.security_headers ? securityHeaders : [],
  };
}

/** The headers that every answer carries to a request of this id from this origin. */
export function doorHeaders(
  { cors, standing }: Door,
  { requestId, origin }: { requestId: string; origin: string | undefined },
): HeaderList {
  return [['X-Request-Id', requestId], ...standing, ...cors.headersFor(origin)];
}
