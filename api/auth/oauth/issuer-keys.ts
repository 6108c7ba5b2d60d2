// The public keys of issuers, remembered for a while: else every sign-in asks for them, with two more requests.
import { createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { LruCache } from '../../process/lru-cache.ts';

/** Finds the key that a token says it was signed with. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

const lifeMs = 600_000;
/** Tokens that no key fits, which anybody can send, have the issuer asked again no more often than this. */
const pauseMs = 30_000;
/** Of the whole server, 64 KiB each at most. */
const maxIssuers = 200;

interface CachedKeys {
  keys: Promise<KeySet>;
  askedAt: number;
  /** When a token that no key fitted was last the reason. */
  askedAgainAt: number | undefined;
}

/** Whose keys are wanted. */
export interface KeyQuery {
  /** Each workspace has its own of an issuer: none hears how another one's questions ended. */
  workspace: string;
  issuer: string;
  /** In milliseconds. */
  now: number;
  /** Asks the issuer. */
  read(): Promise<JSONWebKeySet>;
}

/** Those of one process. */
export class IssuerKeys {
  readonly #remembered = new LruCache<CachedKeys>(maxIssuers);

  /**
   * Answers what `verify` does. When no key fits, it is tried once more with the keys that the issuer has by now. Throws
   * what `verify` and `read` throw.
   */
  async verifyWith<Result>(
    { workspace, issuer, now, read }: KeyQuery,
    verify: (keys: KeySet) => Promise<Result>,
  ): Promise<Result> {
    const name = `${workspace} ${issuer}`;
    const renew = (askedAgainAt?: number) =>
      this.#remember(name, { keys: read().then(createLocalJWKSet), askedAt: now, askedAgainAt });
    const known = this.#remembered.get(name);
    const used = known !== undefined && now - known.askedAt < lifeMs ? known : renew();
    try {
      return await verify(await used.keys);
    } catch (error) {
      if (!isMisfit(error)) throw error;
      const others = this.#othersThan(used, name) ?? (mayAskAgain(used, now) ? renew(now) : undefined);
      if (others === undefined) throw error;
      return await verify(await others.keys);
    }
  }

  #othersThan(used: CachedKeys, name: string): CachedKeys | undefined {
    const known = this.#remembered.get(name);
    return known === used ? undefined : known;
  }

  #remember(name: string, remembered: CachedKeys): CachedKeys {
    this.#remembered.set(name, remembered);
    remembered.keys.catch(() => {
      if (this.#remembered.get(name) === remembered) this.#remembered.delete(name);
    });
    return remembered;
  }
}

function mayAskAgain({ askedAt, askedAgainAt = -Infinity }: CachedKeys, now: number): boolean {
  return now > askedAt && now - askedAgainAt >= pauseMs;
}

/** An issuer that changes its keys should give the new one another name, but need not. */
function isMisfit(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}
