// Origins: which are those of the host that a request names, and how they are spelled.

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
