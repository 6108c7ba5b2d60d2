// Which headers pass between a client and hook code: a handler sees no credentials, and cannot speak for the server.
import { fail } from '../../errors.ts';
import type { Header, HeaderList } from '../../http/header-list.ts';
import { notStored, sandboxed } from '../../http/response-headers.ts';

/** https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1, and what is about the connection in other ways. */
const hopByHop = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const hiddenFromHooks = new Set([...hopByHop, 'authorization', 'cookie', 'cookie2', 'proxy-authorization']);

/** They hold for the whole origin, on which other tenants are too; or speak to a proxy or cache before us, which trusts us. */
const notForHooks = new Set([
  ...hopByHop,
  'accept-ch',
  'alt-svc',
  'cache-tag',
  'clear-site-data',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'critical-ch',
  'date',
  'idp-signin-status',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'proxy-authenticate',
  'referrer-policy',
  'report-to',
  'reporting-endpoints',
  'sec-session-registration',
  'secure-session-registration',
  'service-worker-allowed',
  'set-login',
  'strict-transport-security',
  'surrogate-key',
  'use-as-dictionary',
  'x-content-type-options',
  'x-frame-options',
  'x-lighttpd-send-file',
  'x-lighttpd-send-tempfile',
  'x-request-id',
  'x-sendfile',
  'x-sendfile2',
]);

/** What a hook may say of its pages at the origin of its own app, where no others are. */
const forOwnPages = new Set([
  'content-security-policy',
  'content-security-policy-report-only',
  'permissions-policy',
  'referrer-policy',
  'x-frame-options',
]);

/** Of CORS, and what nginx, Envoy, LiteSpeed and Perlbal obey when the server behind them says so. */
const notForHooksFrom = ['access-control-', 'x-accel-', 'x-envoy-', 'x-litespeed-', 'x-reproxy-'];

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const valuePattern = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const maxHeaders = 100;
const maxHeaderBytes = 16_384;
/** A browser keeps some 180 cookies of a host, and the oldest make way: the sessions of everybody's users are among them. */
const maxCookies = 20;

/** A request's headers as hook code sees them; `raw` has names and values in turn. */
export function toHookHeaders(raw: readonly string[], cookiePrefix: string): [string, string][] {
  const seen: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!hiddenFromHooks.has(name) && !name.startsWith(`${cookiePrefix}_`)) {
      seen.push([name, raw[at + 1] ?? '']);
    }
  }
  return seen;
}

/** Where a hook responds. */
interface HookPlace {
  readonly app: { readonly id: string; readonly workspace: { readonly id: string } };
  /** True at the origin of the app, false at that of the server, where other tenants are too. */
  readonly isOwnOrigin: boolean;
}

/**
 * The headers of a hook's response that are sent; its cookies come back to the app's own routes alone. Throws `500 hook_error`
 * for what HTTP cannot carry.
 */
export function fromHookHeaders(given: HeaderList, cookiePrefix: string, place: HookPlace): Header[] {
  const sent: Header[] = [];
  let bytes = 0;
  let cookies = 0;
  for (const [mixed, value] of given) {
    const name = mixed.toLowerCase();
    bytes += name.length + value.length;
    if (!namePattern.test(name) || !valuePattern.test(value)) {
      fail('hook_error', "the hook's response has a header that HTTP cannot carry");
    }
    const isForbidden = notForHooks.has(name) && !(place.isOwnOrigin && forOwnPages.has(name));
    if (isForbidden || notForHooksFrom.some((prefix) => name.startsWith(prefix))) continue;
    if (name === 'set-cookie') {
      if (++cookies > maxCookies) {
        fail('hook_error', `the hook's response sets more than ${maxCookies} cookies`);
      }
      if (!isServerCookie(value, cookiePrefix)) sent.push([name, confineCookie(value, place)]);
    } else sent.push([name, value]);
  }
  if (given.length > maxHeaders || bytes > maxHeaderBytes) {
    fail(
      'hook_error',
      `the hook's response has more than ${maxHeaders} headers or ${maxHeaderBytes} bytes of them`,
    );
  }
  return sent;
}

/**
 * The server's own headers beside those of a hook. Pages of allowed origins may read the hook's, too. Most responses depend on
 * who asks, so no cache keeps one unless the hook says so.
 */
export function addServerHeaders(given: HeaderList, own: HeaderList): HeaderList {
  const names = given.map(([name]) => name.toLowerCase());
  const defaults = sandboxed(own).filter(([name]) =>
    !forOwnPages.has(name.toLowerCase()) || !names.includes(name.toLowerCase())
  );
  const sent = defaults.map((header): Header => {
    const [name, value] = header;
    return name === 'Access-Control-Expose-Headers' ? [name, [value, ...names].join(', ')] : header;
  });
  return names.includes('cache-control') ? sent : [...sent, notStored];
}

/**
 * Also where a browser would read the name otherwise than we do: it skips white space before it, and sends back a cookie
 * without a name as its value alone, which then reads as a name and a value.
 */
function isServerCookie(cookie: string, prefix: string): boolean {
  const name = cookie.replace(/^[\s=]+/, '').toLowerCase().replace(/^__host-/, '');
  return name.startsWith(`${prefix.toLowerCase().replace(/^__host-/, '')}_`);
}

/**
 * Sent with the requests to other tenants, or to the admins' own routes, large cookies would have a browser refused there
 * until it forgets them. A priority would keep them where session cookies have to make way.
 */
function confineCookie(cookie: string, { app: { id, workspace }, isOwnOrigin }: HookPlace): string {
  const home = isOwnOrigin ? '' : `/api/workspaces/${workspace.id}/apps/${id}/custom`;
  const [pair = '', ...attributes] = cookie.split(';');
  const kept = attributes.filter((attribute) => !/^\s*(?:domain|path|priority)\s*(?:=|$)/i.test(attribute));
  // Of several, browsers take the last.
  const paths = attributes.flatMap((attribute) => /^\s*path\s*=\s*(.*?)\s*$/i.exec(attribute)?.[1] ?? []);
  const path = paths.at(-1) ?? home;
  return [pair, ...kept, ` Path=${path.startsWith(`${home}/`) ? path : home || '/'}`].join(';');
}
