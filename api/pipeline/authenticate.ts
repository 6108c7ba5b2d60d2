// Who is asking: the token of the Authorization header, else of the cookie, and the rule against forged cookie requests.
import type { AccessTokens } from '../auth/tokens/tokens.ts';
import { ApiError, fail } from '../errors.ts';
import type { Principal } from '../scope.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { Cors } from './cors.ts';

/** What authentication needs. */
export interface Authenticator {
  tokens: AccessTokens;
  cors: Cors;
  cookiePrefix: string;
  /** The header that takes the cookie with the access token away. */
  clearedCookie: readonly [string, string];
}

const bearer = /^Bearer +([^\s]+) *$/i;

/** The principal, or null without a token. Throws `401 unauthorized`, and `403` for a cookie from a foreign page. */
export function authenticate(arrival: RequestInfo, by: Authenticator): Principal | null | Promise<Principal> {
  const authorization = arrival.header('authorization');
  if (authorization !== undefined) {
    const token = readBearer(arrival) ??
      fail('unauthorized', 'the Authorization header must be "Bearer <token>"');
    return by.tokens.verifyCached(token) ?? by.tokens.verify(token);
  }
  const cookie = readCookie(arrival, `${by.cookiePrefix}_at`);
  if (cookie === undefined) return null;
  if (changesSomething(arrival.method) && originOf(arrival, by.cors) !== 'own') {
    fail(
      'forbidden',
      'a request with a cookie that changes something needs an Origin of its own host or of the CORS allowlist',
    );
  }
  return authenticateCookie(cookie, by);
}

/**
 * The principal of the token in a cookie. Throws `401 unauthorized`, which takes the cookie away: else a browser, whose pages
 * cannot do so, would send one that is no good to the ways in as well.
 */
export function authenticateCookie(
  cookie: string,
  { tokens, clearedCookie }: Pick<Authenticator, 'tokens' | 'clearedCookie'>,
): Principal | Promise<Principal> {
  return tokens.verifyCached(cookie) ??
    tokens.verify(cookie).catch((error) => takeAway(clearedCookie, error));
}

function takeAway(clearedCookie: readonly [string, string], error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new ApiError(error.code, error.message, [...error.headers, clearedCookie]);
}

/** Ends a request that a foreign page sent (refresh and logout read a cookie, but need no Origin). */
export function refuseForeignOrigin(arrival: RequestInfo, cors: Cors): void {
  if (originOf(arrival, cors) === 'foreign') {
    fail('forbidden', 'the Origin is neither this host nor in the CORS allowlist');
  }
}

/** The token of an Authorization header, or undefined. */
export function readBearer(arrival: RequestInfo): string | undefined {
  return bearer.exec(arrival.header('authorization') ?? '')?.[1];
}

/** The value of one cookie (RFC 6265 section 5.4), or undefined. */
export function readCookie(arrival: RequestInfo, name: string): string | undefined {
  const header = arrival.header('cookie');
  if (header === undefined) return undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

function originOf(arrival: RequestInfo, cors: Cors): 'own' | 'foreign' | 'none' {
  const origin = arrival.header('origin');
  if (origin === undefined) return 'none';
  const host = arrival.header('host');
  if (origin === `http://${host}` || origin === `https://${host}`) return 'own';
  return cors.allows(origin) ? 'own' : 'foreign';
}
