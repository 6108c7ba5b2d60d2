// Where a provider may send the user back to.
import type { ProviderRow } from '../../../storage/workspace/oauth-providers.ts';
import { failValidation } from '../../errors.ts';

/** Printable ASCII without what browsers and parsers read differently: `\`, `"`, angle brackets, braces, `^`, `|`. */
const plain = /^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/;

/** Web pages, and apps by a scheme that is a domain turned around (RFC 8252 section 7.1). */
const listable = /^(https?:|[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:)$/;

/** Why a URI cannot be listed as one to send users to, or undefined. */
export function redirectUriObjection(uri: string): string | undefined {
  if (!plain.test(uri)) return 'must be an absolute URI in printable ASCII';
  const url = URL.parse(uri);
  if (url === null || !listable.test(url.protocol)) return 'must be an http or https URL, or one of an app';
  if (uri.includes('#')) return 'must not have a fragment';
  return undefined;
}

/**
 * The URI, as it was given. Where the provider lists URIs it must be one of them, letter by letter; else any web page
 * will do, since the provider has a list of its own. Throws `400 validation`.
 */
export function checkRedirectUri({ redirect_uris }: Pick<ProviderRow, 'redirect_uris'>, uri: string): string {
  if (redirect_uris !== null) return redirect_uris.includes(uri) ? uri : refuse('is not one of those listed');
  const objection = redirectUriObjection(uri);
  if (objection !== undefined) refuse(objection);
  // The parsed URL must be the written one, so that no two programs see different hosts.
  const isPlain = /^https?:\/\/[a-z0-9.-]+(:\d+)?([/?]|$)/i.test(uri) ||
    /^https?:\/\/\[[0-9a-f:]+\](:\d+)?([/?]|$)/i.test(uri);
  return isPlain ? uri : refuse('must be an http or https URL without a user name');
}

function refuse(reason: string): never {
  failValidation([{ field: 'redirect_uri', reason }]);
}
