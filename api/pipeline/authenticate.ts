// Authenticates a request: by the token of the Authorization header, else by the cookie; refuses forged cookie requests.
import type { Config } from '../../supervisor/protocol.ts';
import type { ApiKeys } from '../auth/keys/api-keys.ts';
import { isKeySecret } from '../auth/keys/secret.ts';
import type { AllowedOrigins } from '../auth/sessions/allowed-origins.ts';
import { clearedAccessCookie, cookieName } from '../auth/sessions/cookies.ts';
import type { AccessTokens } from '../auth/tokens/tokens.ts';
import { ApiError, fail } from '../errors.ts';
import type { AppHost } from '../http/hosts/hosts.ts';
import { isOwnOrigin } from '../http/hosts/origins.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { Principal } from '../scope.ts';

/** The parts that authentication depends on. */
export interface Authenticator {
  tokens: AccessTokens;
  apiKeys: Pick<ApiKeys, 'find'>;
  /** Counts the requests of an API key. */
  limitKey: (id: string, now: number) => number;
  allowedOrigins: AllowedOrigins;
  /** The workspace of a refresh token; undefined for a master's, and for what is none. */
  workspaceOf: (refreshToken: string) => string | undefined;
  deps: { config: Pick<Config, 'http'> };
}

const bearer = /^Bearer +([^\s]+) *$/i;

/**
 * Finds the principal of a request; null without a token. Throws `401 unauthorized` for a bad token, `403 forbidden` for a
 * cookie that a foreign page may have sent along.
 */
export function authenticate(
  request: RequestInfo,
  authenticator: Authenticator,
): Principal | null | Promise<Principal> {
  const { tokens, deps, allowedOrigins } = authenticator;
  const authorization = request.header('authorization');
  if (authorization !== undefined) {
    const token = readBearer(request) ??
      fail('unauthorized', 'the Authorization header must be "Bearer <token>"');
    if (isKeySecret(token)) return authenticateKey(token, request, authenticator);
    return tokens.verifyCached(token) ?? tokens.verify(token);
  }
  const { appHost } = request;
  const cookie = readCookie(request, cookieName({ deps, appHost }, 'at'));
  if (cookie === undefined) return null;
  const origin = request.header('origin');
  if (origin !== undefined && isOwnOrigin(origin, request.header('host'))) {
    return authenticateCookie({ cookie, appHost }, authenticator);
  }
  if (origin !== undefined && allowedOrigins.rightsAt(origin, undefined) === 'cookies') {
    return authenticateForeign(origin, { cookie, appHost }, authenticator);
  }
  // The page cannot read the response.
  return isSafe(request.method)
    ? authenticateCookie({ cookie, appHost }, authenticator)
    : failForeignCookie();
}

/** Finds the principal of an API key. Throws `401 unauthorized`, `429 too_many_requests`. */
export async function authenticateKey(
  secret: string,
  { now }: Pick<RequestInfo, 'now'>,
  { apiKeys, limitKey }: Pick<Authenticator, 'apiKeys' | 'limitKey'>,
): Promise<Principal> {
  const principal = await apiKeys.find(secret);
  const seconds = limitKey(principal.id, now.getTime());
  if (seconds > 0) {
    throw new ApiError('too_many_requests', `too many requests with this API key; wait ${seconds} s`, [
      ['Retry-After', String(seconds)],
    ]);
  }
  return principal;
}

/** A cookie, and the app at whose origin it was sent. */
interface SentCookie {
  cookie: string;
  appHost: AppHost | undefined;
}

/** Finds the principal of a cookie that a page of a workspace's origin has sent. */
async function authenticateForeign(
  origin: string,
  sent: SentCookie,
  authenticator: Authenticator,
): Promise<Principal> {
  const principal = await authenticateCookie(sent, authenticator);
  return authenticator.allowedOrigins.allowsCookieOf(principal.workspace, origin)
    ? principal
    : failForeignCookie();
}

function failForeignCookie(): never {
  fail(
    'forbidden',
    "a request with a cookie needs an Origin of its own host or of the token's workspace (PUT …/origins)",
  );
}

/**
 * Finds the principal of the token in a cookie. Throws `401 unauthorized`, with a header that deletes the cookie: pages cannot
 * delete it, and the browser would send the bad token to login, too.
 */
export function authenticateCookie(
  { cookie, appHost }: SentCookie,
  { tokens, deps }: Pick<Authenticator, 'tokens' | 'deps'>,
): Principal | Promise<Principal> {
  return tokens.verifyCached(cookie) ?? tokens.verify(cookie).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const cleared = clearedAccessCookie({ deps, appHost });
    throw new ApiError(error.code, error.message, [...error.headers, cleared]);
  });
}

/**
 * Ends a request to refresh or log out from a page that may not call the API, or whose cookies do not count. Without an
 * `Origin` it goes on. Throws `403 forbidden`.
 */
export async function refuseForeignOrigin(request: RequestInfo, authenticator: Authenticator): Promise<void> {
  const { allowedOrigins, deps, workspaceOf } = authenticator;
  const at = { deps, appHost: request.appHost };
  const origin = request.header('origin');
  if (origin === undefined || isOwnOrigin(origin, request.header('host'))) return;
  if (allowedOrigins.rightsAt(origin, undefined) === 'none') {
    fail(
      'forbidden',
      'pages of this Origin may not call the API (PUT …/origins, or setting cors.allowed_origins)',
    );
  }
  const refreshToken = readCookie(request, cookieName(at, 'rt'));
  const isForeign = refreshToken !== undefined &&
    !allowedOrigins.allowsCookieOf(workspaceOf(refreshToken), origin);
  if (isForeign) failForeignCookie();
  const accessToken = readCookie(request, cookieName(at, 'at'));
  if (accessToken === undefined) return;
  const principal = await verified(accessToken, authenticator.tokens);
  if (principal !== undefined && !allowedOrigins.allowsCookieOf(principal.workspace, origin)) {
    failForeignCookie();
  }
}

/** The principal of a token; undefined for one that is not good (any more), as before a refresh. */
async function verified(token: string, tokens: AccessTokens): Promise<Principal | undefined> {
  try {
    return tokens.verifyCached(token) ?? await tokens.verify(token);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Reads the token of the Authorization header; undefined when there is none. */
export function readBearer(request: RequestInfo): string | undefined {
  return bearer.exec(request.header('authorization') ?? '')?.[1];
}

/** Reads a cookie (RFC 6265 section 5.4); undefined when there is none of that name. */
export function readCookie(request: RequestInfo, name: string): string | undefined {
  const header = request.header('cookie');
  if (header === undefined) return undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/** True for methods that change nothing (RFC 9110 section 9.2.1). */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
