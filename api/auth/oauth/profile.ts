// The profile of a provider's account: its subject, its address, and if that is verified.
import { textFault } from '../../../storage/sql/characters.ts';
import { failUnavailable, jsonMember, type ProviderContext, requestJson } from './provider-client.ts';
import type { Preset } from './presets.ts';
import { emailText } from '../../contract/credentials.ts';
import { normalizeName } from '../login/attempt.ts';

/** An account at a provider, as far as we use it. */
export interface ProviderProfile {
  /** The provider's own id of it. */
  subject: string;
  /** Lower case; undefined when the provider tells none that is of use. */
  email: string | undefined;
  /** The provider vouches for the address to be the account's. */
  isVerified: boolean;
}

/** Asks with an access token. Throws `503 unavailable`. */
export async function readProfile(
  provider: ProviderContext,
  { url, token, style }: { url: string; token: string; style: Preset['profile'] },
): Promise<ProviderProfile> {
  const headers = [['Authorization', `Bearer ${token}`]] as const;
  const { status, value } = await requestJson(provider, 'userinfo', { method: 'GET', url, headers });
  const subject = readSubject(value);
  if (status !== 200 || subject === undefined) {
    failUnavailable(provider, 'userinfo', `status ${status}, or no subject`);
  }
  if (style === 'openid') {
    // OpenID Connect Core section 5.1; some send the flag as text. Without it nobody vouches for the address.
    const flag = jsonMember(value, 'email_verified');
    return {
      subject,
      email: readEmail(jsonMember(value, 'email')),
      isVerified: flag === true || flag === 'true',
    };
  }
  const emails = await requestJson(provider, 'emails', { method: 'GET', url: emailsUrl(url), headers });
  if (emails.status !== 200) failUnavailable(provider, 'emails', `status ${emails.status}`);
  return { subject, email: primaryEmail(emails.value), isVerified: true };
}

/** OpenID Connect says `sub`; what is older than it says `id`, often as a number. */
function readSubject(value: unknown): string | undefined {
  const subject = jsonMember(value, 'sub') ?? jsonMember(value, 'id');
  if (typeof subject === 'number' && Number.isSafeInteger(subject)) return String(subject);
  const isUsable = typeof subject === 'string' && subject.length > 0 && subject.length <= 255 &&
    textFault(subject) === undefined;
  return isUsable ? subject : undefined;
}

/** https://docs.github.com/rest/users/emails: the list is one level below the user. */
function emailsUrl(userinfo: string): string {
  const url = new URL(userinfo);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/emails`;
  return url.href;
}

/** The one that is primary, when it is verified. */
function primaryEmail(list: unknown): string | undefined {
  const all: readonly unknown[] = Array.isArray(list) ? list : [];
  const primary = all.find((entry) => jsonMember(entry, 'primary') === true);
  return jsonMember(primary, 'verified') === true ? readEmail(jsonMember(primary, 'email')) : undefined;
}

function readEmail(value: unknown): string | undefined {
  return typeof value === 'string' && emailText.accepts?.(value) === true ? normalizeName(value) : undefined;
}
