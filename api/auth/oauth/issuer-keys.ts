// The public keys of issuers, entry for a while: else every sign-in asks for them, with two more requests.
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
  fetchedAt: number;
  /** When a token that no key fitted was last the reason. */
  refetchedAt: number | undefined;
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
  readonly #cache = new LruCache<CachedKeys>(maxIssuers);

  /**
   * Returns what `verify` does. When no key fits, it is tried once more with the keys that the issuer has by now. Throws
   * what `verify` and `read` throw.
   */
  async verifyWith<Result>(
    { workspace, issuer, now, read }: KeyQuery,
    verify: (keys: KeySet) => Promise<Result>,
  ): Promise<Result> {
    const name = `${workspace} ${issuer}`;
    const renew = (askedAgainAt?: number) =>
      this.#store(name, { keys: read().then(createLocalJWKSet), fetchedAt: now, refetchedAt: askedAgainAt });
    const known = this.#cache.get(name);
    const used = known !== undefined && now - known.fetchedAt < lifeMs ? known : renew();
    try {
      return await verify(await used.keys);
    } catch (error) {
      if (!isKeyMismatch(error)) throw error;
      const newer = this.#newerThan(used, name) ?? (mayRefetch(used, now) ? renew(now) : undefined);
      if (newer === undefined) throw error;
      return await verify(await newer.keys);
    }
  }

  #newerThan(used: CachedKeys, name: string): CachedKeys | undefined {
    const known = this.#cache.get(name);
    return known === used ? undefined : known;
  }

  #store(name: string, entry: CachedKeys): CachedKeys {
    this.#cache.set(name, entry);
    entry.keys.catch(() => {
      if (this.#cache.get(name) === entry) this.#cache.delete(name);
    });
    return entry;
  }
}

function mayRefetch(
  { fetchedAt: askedAt, refetchedAt: askedAgainAt = -Infinity }: CachedKeys,
  now: number,
): boolean {
  return now > askedAt && now - askedAgainAt >= pauseMs;
}

/** An issuer that changes its keys should give the new one another name, but need not. */
function isKeyMismatch(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}
