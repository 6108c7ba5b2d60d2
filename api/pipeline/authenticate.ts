// Authenticates a request: by the token of the Authorization header, else by the cookie; refuses forged cookie requests.
import type { AccessTokens } from '../auth/tokens/tokens.ts';
import { ApiError, fail } from '../errors.ts';
import type { Header } from '../http/header-list.ts';
import { isOwnOrigin } from '../http/hosts.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { Principal } from '../scope.ts';
import type { Cors } from './cors.ts';

/** The parts that authentication depends on. */
export interface Authenticator {
  tokens: AccessTokens;
  cors: Cors;
  cookiePrefix: string;
  /** The header that deletes the cookie with the access token. */
  clearedCookie: Header;
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
  const { tokens, cookiePrefix, cors } = authenticator;
  const authorization = request.header('authorization');
  if (authorization !== undefined) {
    const token = readBearer(request) ??
      fail('unauthorized', 'the Authorization header must be "Bearer <token>"');
    return tokens.verifyCached(token) ?? tokens.verify(token);
  }
  const cookie = readCookie(request, `${cookiePrefix}_at`);
  if (cookie === undefined) return null;
  if (!isSafe(request.method) && originOf(request, cors) !== 'own') {
    fail(
      'forbidden',
      'a request with a cookie that changes something needs an Origin of its own host or of the CORS allowlist',
    );
  }
  return authenticateCookie(cookie, authenticator);
}

/**
 * Finds the principal of the token in a cookie. Throws `401 unauthorized`, with a header that deletes the cookie: pages cannot
 * delete it, and the browser would send the bad token to login, too.
 */
export function authenticateCookie(
  cookie: string,
  { tokens, clearedCookie }: Pick<Authenticator, 'tokens' | 'clearedCookie'>,
): Principal | Promise<Principal> {
  return tokens.verifyCached(cookie) ??
    tokens.verify(cookie).catch((error) => failAndClear(clearedCookie, error));
}

function failAndClear(clearedCookie: Header, error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new ApiError(error.code, error.message, [...error.headers, clearedCookie]);
}

/** Ends a request from a page of a foreign origin. Without an `Origin` it goes on: refresh and logout need none. */
export function refuseForeignOrigin(request: RequestInfo, cors: Cors): void {
  if (originOf(request, cors) === 'foreign') {
    fail('forbidden', 'the Origin is neither this host nor in the CORS allowlist');
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

function originOf(request: RequestInfo, cors: Cors): 'own' | 'foreign' | 'none' {
  const origin = request.header('origin');
  if (origin === undefined) return 'none';
  return isOwnOrigin(origin, request.header('host')) || cors.allows(origin) ? 'own' : 'foreign';
}
