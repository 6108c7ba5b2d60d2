// The session cookies: the access token for every path, the refresh token for /_/auth only, and that of a known client.
import type { Config } from '../../../supervisor/protocol.ts';
import type { ResponseOverrides } from '../../contract/route.ts';
import { knownClientSeconds } from '../login/known-client.ts';

/** Tokens and how long they live, in seconds. */
export interface TokenPair {
  access_token: string;
  refresh_token: string;
  accessTtl: number;
  refreshTtl: number;
  /** Tells later sign-ins that this client has signed in before; only a sign-in has it. */
  knownClient?: string;
}

/** The body of a response that hands tokens over: `who` says whose they are. */
export function respondWithTokens<Who extends object>(
  { deps, overrides }: { deps: { config: Config }; overrides: ResponseOverrides },
  pair: TokenPair,
  who: Who,
): { access_token: string; refresh_token: string } & Who {
  setSessionCookies(overrides, deps.config, pair);
  return { access_token: pair.access_token, refresh_token: pair.refresh_token, ...who };
}

function setSessionCookies(overrides: ResponseOverrides, config: Config, pair: TokenPair): void {
  add(overrides, config, { name: 'at', value: pair.access_token, path: '/', maxAge: pair.accessTtl });
  add(overrides, config, { name: 'rt', value: pair.refresh_token, path: '/_/auth', maxAge: pair.refreshTtl });
  const { knownClient } = pair;
  if (knownClient !== undefined) {
    add(overrides, config, { name: 'kc', value: knownClient, path: '/', maxAge: knownClientSeconds });
  }
}

/** Takes both cookies away. */
export function clearSessionCookies(overrides: ResponseOverrides, config: Config): void {
  overrides.headers.push(clearedAccessCookie(config));
  add(overrides, config, { name: 'rt', value: '', path: '/_/auth', maxAge: 0 });
}

/** The header that takes the cookie with the access token away. */
export function clearedAccessCookie({ http }: Pick<Config, 'http'>): [string, string] {
  return setCookie(http, { name: 'at', value: '', path: '/', maxAge: 0 });
}

interface Cookie {
  name: 'at' | 'rt' | 'kc';
  value: string;
  path: string;
  maxAge: number;
}

function add(overrides: ResponseOverrides, { http }: Config, cookie: Cookie): void {
  overrides.headers.push(setCookie(http, cookie));
}

/**
 * https://www.rfc-editor.org/rfc/rfc6265#section-4.1. A browser that has too many cookies of a host drops those of high
 * priority last, so that no tenant can push sessions out of it.
 * https://datatracker.ietf.org/doc/html/draft-west-cookie-priority-00
 */
function setCookie(http: Config['http'], { name, value, path, maxAge }: Cookie): [string, string] {
  const secure = http.cookie_secure ? '; Secure' : '';
  const pair = `${http.cookie_prefix}_${name}=${value}`;
  const lifetime = `Path=${path}; Max-Age=${maxAge}`;
  return ['Set-Cookie', `${pair}; ${lifetime}; HttpOnly; SameSite=Strict; Priority=High${secure}`];
}
