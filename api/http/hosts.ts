// The names that the server is known by: which `Host` is one of them, and which `Origin` is that of its own pages.

/** True when the value of a `Host` header names this server. */
export type IsKnownHost = (host: string) => boolean;

/** The error for any other. */
export const unknownHost = 'Host: is none of the names of this server (http.hosts)';

/** Makes the check of `http.hosts`: each `host`, with any port, or `host:port`. Without any, all names are known. */
export function knownHosts(hosts: readonly string[]): IsKnownHost {
  if (hosts.length === 0) return () => true;
  const known = new Set(hosts.map(normalized));
  return (host) => {
    const name = normalized(host);
    return known.has(name) || known.has(name.replace(/:\d*$/, ''));
  };
}

/** Proxies leave a default port out or write it; and only they know of which scheme it is. */
function normalized(host: string): string {
  return host.toLowerCase().replace(/:(?:80|443)?$/, '');
}

/** True when an `Origin` is that of the host itself, over HTTP or HTTPS. Letter case and default ports do not count. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  // Almost all are spelled so.
  if (origin === `https://${host}` || origin === `http://${host}`) return true;
  const { protocol, host: page } = URL.parse(origin) ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  return URL.parse(`${protocol}//${host}`)?.host === page;
}

const originForm = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/i;

/**
 * The spelling of an exact origin that browsers use: lower case, without a default port. Undefined for anything else, such
 * as a pattern or a path. The scheme may be any, like that of pages inside of apps (`capacitor://localhost`).
 */
export function canonicalOrigin(text: string): string | undefined {
  const url = originForm.test(text) ? URL.parse(text) : null;
  return url === null || url.host === '' ? undefined : `${url.protocol}//${url.host}`.toLowerCase();
}
