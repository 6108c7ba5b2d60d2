// Access tokens: issued, verified, remembered until they expire or are revoked.
import { createHash } from 'node:crypto';
import { errors, type JWTHeaderParameters, jwtVerify, type JWTVerifyOptions, SignJWT } from 'jose';
import { fail } from '../../errors.ts';
import type { Principal } from '../../scope.ts';
import { type Grant, type IssuedToken, readClaims, toClaims } from './claims.ts';
import type { Revocations } from './revocations.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The access tokens of this server. */
export interface AccessTokens {
  /** A token that has been verified before and is still good; without a signature check, for the hot path. */
  verifyCached(token: string): Principal | undefined;
  /** Checks signature, claims and revocation. Throws `401 unauthorized`. */
  verify(token: string): Promise<Principal>;
  /** The current rights of a principal that was cached or verified here; undefined when it has none. */
  current(principal: Principal): Principal | undefined;
  /** Signs a token. `jti` is a new v7 UUID; its time counts for revocations. */
  issue(grant: Grant, options: { jti: string; issuedAt: number; ttlSeconds: number }): Promise<string>;
}

interface TokensOptions {
  issuer: string;
  /** Empty: no HS256. */
  legacySecret: string;
  keys: SigningKeys;
  revocations: Revocations;
  /** The current rights of an API key. */
  currentKey?: (key: Principal) => Principal | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
}

interface CachedToken {
  token: IssuedToken;
  principal: Principal;
  expiresAt: number;
  validFrom: number;
  /** Version of the revocations at which `principal` was right. */
  version: number;
}

/** Two generations of this many tokens: the older one is dropped when the younger is full. */
const generationSize = 10_000;
/** Tokens of earlier releases lived at most this long, so none is good this long after the first RS256 key. */
const legacyLifeMs = 86_400_000;
/** The clocks of several machines, and one that is trimmed, differ by less. */
const maxClockSkewMs = 60_000;
const headerMembers = new Set(['alg', 'kid', 'typ']);

/** The tokens of one process. */
export class Tokens implements AccessTokens {
  readonly #options: TokensOptions;
  #young = new Map<string, CachedToken>();
  #old = new Map<string, CachedToken>();
  /** The tokens of principals, as long as somebody holds them: streams outlive the generations. */
  readonly #issued = new WeakMap<Principal, IssuedToken>();

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  verifyCached(token: string): Principal | undefined {
    const known = this.#young.get(token) ?? this.#promote(token);
    if (known === undefined) return undefined;
    const { revocations, now } = this.#options;
    if (known.version !== revocations.version) {
      const principal = revocations.judge(known.token);
      if (principal === undefined) return this.#evict(token);
      this.#issued.set(principal, known.token);
      known.principal = principal;
      known.version = revocations.version;
    }
    const time = now();
    return time < known.expiresAt && time >= known.validFrom ? known.principal : this.#evict(token);
  }

  current(principal: Principal): Principal | undefined {
    if (principal.key !== undefined) return this.#options.currentKey?.(principal);
    const token = this.#issued.get(principal);
    return token === undefined ? undefined : this.#options.revocations.judge(token);
  }

  async verify(token: string): Promise<Principal> {
    const issued = await this.#read(token);
    return this.#store(token, issued) ?? fail('unauthorized', 'the access token has been revoked');
  }

  async issue(
    grant: Grant,
    { jti, issuedAt, ttlSeconds }: { jti: string; issuedAt: number; ttlSeconds: number },
  ): Promise<string> {
    const { issuer, keys: { current } } = this.#options;
    const iat = Math.floor(issuedAt / 1_000);
    const payload = { ...toClaims(grant), iss: issuer, sub: grant.id, jti, iat, exp: iat + ttlSeconds };
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: current.kid })
      .sign(current.privateKey);
    this.#store(token, readClaims(payload));
    return token;
  }

  async #read(token: string): Promise<IssuedToken> {
    const { issuer, now } = this.#options;
    const rules: JWTVerifyOptions = {
      algorithms: ['RS256', 'HS256'],
      requiredClaims: ['sub', 'iat', 'exp'],
      currentDate: new Date(now()),
    };
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header) => this.#keyFor(header), rules);
      const isLegacy = protectedHeader.alg === 'HS256';
      if (payload.iss !== issuer && !(isLegacy && payload.iss === undefined)) {
        fail('unauthorized', 'the access token has another issuer');
      }
      const issued = readClaims(payload, isLegacy ? hashSignedPart(token) : undefined);
      if (now() < validFrom(issued)) fail('unauthorized', 'the access token is not valid yet');
      return issued;
    } catch (error) {
      if (error instanceof errors.JWTExpired) fail('unauthorized', 'the access token has expired');
      if (error instanceof errors.JOSEError) fail('unauthorized', 'the access token is not valid');
      throw error;
    }
  }

  /**
   * The one key for a header, by its algorithm first: an RSA key never serves as an HMAC secret (RFC 8725 section
   * 3.1), and nothing in the header names a key but our own `kid`.
   */
  #keyFor(header: JWTHeaderParameters): CryptoKey | Uint8Array {
    const { keys, legacySecret, now } = this.#options;
    for (const member in header) if (!headerMembers.has(member)) refuseKey();
    if (header.alg === 'RS256' && header.typ === 'JWT') {
      return keys.verifying.get(header.kid ?? '') ?? refuseKey();
    }
    const isLegacy = header.alg === 'HS256' && header.kid === undefined && legacySecret !== '' &&
      (header.typ === undefined || header.typ === 'JWT');
    if (!isLegacy || now() > keys.since.getTime() + legacyLifeMs) refuseKey();
    return new TextEncoder().encode(legacySecret);
  }

  #store(text: string, token: IssuedToken): Principal | undefined {
    const { version } = this.#options.revocations;
    const principal = this.#options.revocations.judge(token);
    if (principal === undefined) return undefined;
    this.#issued.set(principal, token);
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    const expiresAt = token.principal.expiresAt * 1_000;
    this.#young.set(text, { token, principal, expiresAt, validFrom: validFrom(token), version });
    return principal;
  }

  #promote(token: string): CachedToken | undefined {
    const known = this.#old.get(token);
    if (known === undefined) return undefined;
    this.#old.delete(token);
    this.#young.set(token, known);
    return known;
  }

  #evict(token: string): undefined {
    this.#young.delete(token);
    this.#old.delete(token);
  }
}

/** A clock that was ahead issued it, if this is to come: it would be good for longer than it should. In milliseconds. */
function validFrom({ principal: { issuedAt } }: IssuedToken): number {
  return issuedAt * 1_000 - maxClockSkewMs;
}

function refuseKey(): never {
  throw new errors.JWSInvalid('no key for this header');
}

/** Of what is signed only: base64url admits several spellings of one signature. */
function hashSignedPart(token: string): string {
  return createHash('sha256').update(token.slice(0, token.lastIndexOf('.'))).digest('base64url');
}
