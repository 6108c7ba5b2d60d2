// The session cookies: the access token for every path, the refresh token for /_/auth only, and that of a known client.
import type { Config } from '../../../supervisor/protocol.ts';
import type { ResponseOverrides } from '../../contract/route.ts';
import type { AppHost } from '../../http/hosts/hosts.ts';
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

/** A request at the host whose cookies are meant. */
interface AtHost {
  deps: { config: Pick<Config, 'http'> };
  appHost: AppHost | undefined;
}

/** The same, and its response. */
interface SettingCookies extends AtHost {
  overrides: ResponseOverrides;
}

/** The body of a response that hands tokens over: `who` says whose they are. */
export function respondWithTokens<Who extends object>(
  call: SettingCookies,
  { access_token, refresh_token, accessTtl, refreshTtl, knownClient }: TokenPair,
  who: Who,
): { access_token: string; refresh_token: string } & Who {
  const { headers } = call.overrides;
  headers.push(setCookie(call, { name: 'at', value: access_token, maxAge: accessTtl }));
  headers.push(setCookie(call, { name: 'rt', value: refresh_token, maxAge: refreshTtl }));
  if (knownClient !== undefined) {
    headers.push(setCookie(call, { name: 'kc', value: knownClient, maxAge: knownClientSeconds }));
  }
  return { access_token, refresh_token, ...who };
}

/** Takes both cookies away. */
export function clearSessionCookies(call: SettingCookies): void {
  call.overrides.headers.push(
    clearedAccessCookie(call),
    setCookie(call, { name: 'rt', value: '', maxAge: 0 }),
  );
}

/** The header that takes the cookie with the access token away. */
export function clearedAccessCookie(at: AtHost): [string, string] {
  return setCookie(at, { name: 'at', value: '', maxAge: 0 });
}

type CookieName = 'at' | 'rt' | 'kc';

const hostOnly = '__Host-';

/**
 * The full name of a cookie. At the origin of an app it begins with `__Host-`: pages of other apps, which are below the same
 * domain, cannot set such a cookie for it. Browsers know the prefix over HTTPS only.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3
 */
export function cookieName({ deps: { config: { http } }, appHost }: AtHost, name: CookieName): string {
  const prefix = appHost?.isPublic === true && http.cookie_secure ? hostOnly : '';
  return `${prefix}${http.cookie_prefix}_${name}`;
}

/**
 * https://www.rfc-editor.org/rfc/rfc6265#section-4.1. A browser that has too many cookies of a host drops those of high
 * priority last, so that no tenant can push sessions out of it.
 * https://datatracker.ietf.org/doc/html/draft-west-cookie-priority-00
 */
function setCookie(
  at: AtHost,
  { name, value, maxAge }: { name: CookieName; value: string; maxAge: number },
): [string, string] {
  const fullName = cookieName(at, name);
  // Of a cookie whose name has the prefix, browsers require this path.
  const path = name === 'rt' && !fullName.startsWith(hostOnly) ? '/_/auth' : '/';
  const secure = at.deps.config.http.cookie_secure ? '; Secure' : '';
  const lifetime = `Path=${path}; Max-Age=${maxAge}`;
  return [
    'Set-Cookie',
    `${fullName}=${value}; ${lifetime}; HttpOnly; SameSite=Strict; Priority=High${secure}`,
  ];
}
