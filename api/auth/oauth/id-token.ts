// The ID token of a sign-in: is it the issuer's, for us, still good, and of this sign-in (OpenID Connect Core 3.1.3.7)?
import { createHash } from 'node:crypto';
import { errors, importJWK, type JSONWebKeySet, type JWK, type JWTPayload, jwtVerify } from 'jose';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { failUnavailable, jsonMember, type ProviderContext, requestJson } from './provider-client.ts';
import type { KeySet } from './issuer-keys.ts';

/** The values that an ID token must match. */
export interface ExpectedClaims {
  issuer: string;
  clientId: string;
  /** Of the sign-in that the token must be of. */
  codeVerifier: string;
  now: Date;
}

/** Those with a public key: a client secret, which some sign with, is no proof against whoever else has it. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** How far the issuer's clock may be from ours, in seconds. */
const clockTolerance = 60;
/** In seconds: a sign-in takes minutes, and its token is asked for at its end. */
const maxTokenAge = 3_600;

/** The nonce of a sign-in: told to the provider, and to nobody who knows the verifier's challenge alone. */
export function deriveNonce(codeVerifier: string): string {
  return createHash('sha256').update(`nonce ${codeVerifier}`).digest('base64url');
}

/**
 * Returns the subject. Throws `401 bad_credentials` when there is no token or not a good one, `503 unavailable` when
 * the issuer does not tell its keys.
 */
export async function readIdToken(
  provider: ProviderContext & { deps: Pick<Deps, 'issuerKeys'> },
  idToken: string | undefined,
  expected: ExpectedClaims,
): Promise<string> {
  if (idToken === undefined) return refuseIdToken(provider, 'there is none');
  const { issuer, clientId: audience, now } = expected;
  const requiredClaims = ['sub', 'exp', 'iat'];
  const terms = {
    issuer,
    audience,
    algorithms,
    clockTolerance,
    maxTokenAge,
    currentDate: now,
    requiredClaims,
  };
  try {
    const query = {
      workspace: provider.workspace,
      issuer,
      now: now.getTime(),
      read: () => readKeys(provider, issuer),
    };
    const verify = (keys: KeySet) => jwtVerify(idToken, keys, terms).catch(refuseKey);
    const { payload } = await provider.deps.issuerKeys.verifyWith(query, verify);
    const { sub } = payload;
    const reason = claimsObjection(payload, expected);
    return sub === undefined || reason !== undefined ? refuseIdToken(provider, reason ?? 'no subject') : sub;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    return refuseIdToken(provider, error.code);
  }
}

/** A key that the issuer tells may be none, or too small a one: what jose then throws is not its own. */
function refuseKey(error: unknown): never {
  if (error instanceof errors.JOSEError) throw error;
  throw new errors.JWKSInvalid('a key of the issuer is of no use', { cause: error });
}

/** The checks that jose does not make. */
function claimsObjection(
  { nonce, aud, azp }: JWTPayload,
  { clientId, codeVerifier }: ExpectedClaims,
): string | undefined {
  if (nonce !== deriveNonce(codeVerifier)) return 'the nonce is that of another sign-in';
  const isForOthers = Array.isArray(aud) && aud.length > 1;
  if (azp === undefined ? isForOthers : azp !== clientId) return 'it was given to another client';
  return undefined;
}

/** OpenID Connect Discovery 1.0 section 4: the document must be of the issuer that was asked for. */
async function readKeys(provider: ProviderContext, issuer: string): Promise<JSONWebKeySet> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = await requestJson(provider, 'discovery', { method: 'GET', url });
  const jwks = jsonMember(found.value, 'jwks_uri');
  if (found.status !== 200 || jsonMember(found.value, 'issuer') !== issuer) {
    return failUnavailable(provider, 'discovery', `status ${found.status}, or another issuer`);
  }
  if (typeof jwks !== 'string' || !URL.canParse(jwks)) {
    return failUnavailable(provider, 'discovery', 'no jwks_uri');
  }
  const { status, value } = await requestJson(provider, 'keys', { method: 'GET', url: jwks });
  const keys = jsonMember(value, 'keys');
  if (status !== 200 || !Array.isArray(keys)) {
    return failUnavailable(provider, 'keys', `status ${status}, or no keys`);
  }
  const usable = await Promise.all(keys.map(isUsableKey));
  return { keys: keys.filter((_key, index) => usable[index]) };
}

/** RFC 7517 section 5: an entry that cannot be understood is ignored, and the others count. */
async function isUsableKey(key: JWK): Promise<boolean> {
  try {
    // An RSA key need not say its algorithm; it is the same key for all of them.
    const imported = await importJWK(key, key.alg ?? 'RS256');
    return !(imported instanceof Uint8Array) && imported.type === 'public';
  } catch {
    return false;
  }
}

/** Ends a sign-in whose ID token is not to be trusted; only the log says why. */
export function refuseIdToken({ deps, workspace, provider }: ProviderContext, reason: string): never {
  deps.observe({ type: 'provider_failed', workspace, provider, step: 'id_token', reason });
  fail('bad_credentials', 'the ID token of the provider is not good');
}
