// The code that a provider gave is exchanged for tokens (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
import type { ProviderRow } from '../../../storage/workspace/oauth-providers.ts';
import type { TakenState } from '../../../storage/workspace/oauth-states.ts';
import { fail } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';
import { jsonMember, type ProviderContext, requestJson } from './provider-client.ts';

/** The tokens and claims that a code is exchanged for. */
export interface ProviderTokens {
  accessToken: string;
  /** Of an OpenID provider; not checked yet. */
  idToken: string | undefined;
}

/** Returns the tokens. Throws `401 bad_credentials` for a code that the provider refuses, `503 unavailable`. */
export async function exchangeCode(
  context: ProviderContext,
  { provider, secret, code, state }: {
    provider: ProviderRow;
    secret: string | undefined;
    code: string;
    state: TakenState;
  },
): Promise<ProviderTokens> {
  const { client_id, token_url: url, token_auth_method: method } = provider;
  const isBasic = method === 'client_secret_basic' && secret !== undefined;
  const parameters = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: state.redirect_uri,
    code_verifier: state.code_verifier,
    ...(isBasic ? {} : { client_id }),
    ...(isBasic || secret === undefined ? {} : { client_secret: secret }),
  });
  const headers: HeaderList = [
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ...(isBasic ? [['Authorization', basic(client_id, secret)] as const] : []),
  ];
  const { status, value } = await requestJson(context, 'token', {
    method: 'POST',
    url,
    headers,
    body: parameters.toString(),
  });
  const token = jsonMember(value, 'access_token');
  // Some refuse with 200 and an `error`.
  const isGood = status === 200 && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  if (!isGood) return refuse(context, status, jsonMember(value, 'error'));
  const idToken = jsonMember(value, 'id_token');
  return { accessToken: token, idToken: typeof idToken === 'string' ? idToken : undefined };
}

/** RFC 6749 section 2.3.1: both parts are encoded as in a form first. */
function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((part) => new URLSearchParams([['', part]]).toString().slice(1));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

function refuse({ deps, workspace, provider }: ProviderContext, status: number, error: unknown): never {
  // The codes of RFC 6749 section 5.2 and of others are short words; nothing else goes into the log.
  const word = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? error : `status ${status}`;
  deps.observe({ type: 'provider_failed', workspace, provider, step: 'token', reason: word });
  fail('bad_credentials', 'the provider does not accept the code');
}
