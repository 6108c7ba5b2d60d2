// API keys as bearers of requests: found by their hash, cached for seconds, dead as soon as they are revoked.
import { findUsedKey, type ShownKeyRow } from '../../../storage/control/api-keys.ts';
import type { Databases } from '../../../storage/connections/databases.ts';
import { parseKeyGrant } from '../../contract/key-scopes.ts';
import { fail } from '../../errors.ts';
import type { KeyGrant, Principal } from '../../scope.ts';
import type { IssuedToken } from '../tokens/claims.ts';
import type { Revocations } from '../tokens/revocations.ts';
import { hashKeySecret } from './secret.ts';

interface ApiKeysOptions {
  databases: Pick<Databases, 'control'>;
  revocations: Pick<Revocations, 'judge'>;
  now: () => Date;
}

interface CachedKey {
  issued: IssuedToken;
  readAt: number;
}

/** Then the row is read again, which also notes the use. A revocation counts at once. */
const cachedMs = 30_000;
const maxCached = 10_000;

/** The API keys that one process has seen. */
export class ApiKeys {
  readonly #options: ApiKeysOptions;
  /** By the hash of the secret; secrets are not kept. */
  readonly #cached = new Map<string, CachedKey>();
  readonly #reading = new Map<string, Promise<CachedKey | undefined>>();
  readonly #issued = new WeakMap<Principal, IssuedToken>();

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /** Finds the principal of a secret. Throws `401 unauthorized`. */
  find(secret: string): Principal | Promise<Principal> {
    const hash = hashKeySecret(secret) ?? refuse();
    const name = hash.toString('base64');
    const known = this.#cached.get(name);
    const now = this.#options.now().getTime();
    const isFresh = known !== undefined && now >= known.readAt && now - known.readAt < cachedMs;
    return isFresh ? this.#judged(name, known) : this.#read(name, hash);
  }

  /** The current rights of a principal that was found here; undefined when it has none. */
  current(principal: Principal): Principal | undefined {
    const issued = this.#issued.get(principal);
    return issued && this.#options.revocations.judge(issued);
  }

  #judged(name: string, { issued }: CachedKey): Principal {
    const principal = this.#options.revocations.judge(issued);
    if (principal === undefined || principal.expiresAt * 1_000 <= this.#options.now().getTime()) {
      this.#cached.delete(name);
      refuse();
    }
    this.#issued.set(principal, issued);
    return principal;
  }

  async #read(name: string, hash: Buffer): Promise<Principal> {
    const reading = this.#reading.get(name) ??
      this.#load(name, hash).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return this.#judged(name, await reading ?? refuse());
  }

  async #load(name: string, hash: Buffer): Promise<CachedKey | undefined> {
    const { databases, now } = this.#options;
    const readAt = now();
    const row = await databases.control.run((sql) => findUsedKey(sql, hash, readAt));
    if (row === undefined) {
      this.#cached.delete(name);
      return undefined;
    }
    const known = { issued: issuedKey(row), readAt: readAt.getTime() };
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= maxCached && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.delete(name);
    this.#cached.set(name, known);
    return known;
  }
}

/** The key as revocations judge it. A scope of a later version grants nothing. */
function issuedKey(row: ShownKeyRow): IssuedToken {
  const { id, workspace, app, scopes, maker, maker_role: role, created_at, expires_at } = row;
  const place = { ...workspace !== null && { workspace }, ...app !== null && { app } };
  const grants = scopes.map((scope) => parseKeyGrant(scope, place)).filter((grant): grant is KeyGrant =>
    typeof grant !== 'string'
  );
  return {
    principal: {
      role: 'api_key',
      id,
      jti: id,
      issuedAt: created_at.getTime() / 1_000,
      expiresAt: expires_at === null ? Infinity : expires_at.getTime() / 1_000,
      ...workspace !== null && { workspace },
      ...app !== null && { apps: [app] },
      key: { grants, maker: { id: maker, role } },
    },
    narrowed: true,
    issuedAt: created_at.getTime(),
  };
}

function refuse(): never {
  fail('unauthorized', 'the API key is not valid');
}
