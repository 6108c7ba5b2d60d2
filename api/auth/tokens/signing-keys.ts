// The RS256 keys that access tokens are signed with: made once, their private half encrypted at rest.
import { createHash } from 'node:crypto';
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, importJWK, importPKCS8 } from 'jose';
import type { Databases } from '../../../storage/connections/databases.ts';
import type { Secrets } from '../../../storage/secrets.ts';
import {
  insertFirstSigningKey,
  listSigningKeys,
  type SigningKeyRow,
} from '../../../storage/control/signing-keys.ts';

/** A public key as the JWK Set shows it (RFC 7517). */
export interface PublicJwk {
  kty: string;
  n: string;
  e: string;
  alg: string;
  use: string;
  kid: string;
}

/** The keys of this server. */
export interface SigningKeys {
  /** The key that new tokens are signed with. */
  current: { kid: string; privateKey: CryptoKey };
  /** By `kid`. */
  verifying: ReadonlyMap<string, CryptoKey>;
  jwks: { keys: PublicJwk[] };
  /** When the first key was made: no RS256 token is older. */
  since: Date;
}

type KeyDeps = { databases: Databases; secrets: Secrets; now: () => Date };

const algorithm = 'RS256';

/** Reads the keys, making the first pair on a new server. Throws `UnsealError` with another master key. */
export async function openSigningKeys(deps: KeyDeps): Promise<SigningKeys> {
  const known = await deps.databases.control.run(listSigningKeys);
  const rows = known.length > 0 ? known : await makeFirst(deps);
  const newest = rows.at(-1);
  const oldest = rows[0];
  if (newest === undefined || oldest === undefined) throw new Error('there is no signing key');
  const pem = deps.secrets.open('signing-key', newest.kid, newest.private_sealed).toString('utf8');
  const keys = rows.map(toPublicJwk);
  const verifying = new Map<string, CryptoKey>();
  for (const jwk of keys) {
    const key = await importJWK({ ...jwk }, algorithm);
    if (key instanceof Uint8Array) throw new Error('not a public key');
    verifying.set(jwk.kid, key);
  }
  return {
    current: { kid: newest.kid, privateKey: await importPKCS8(pem, algorithm) },
    verifying,
    jwks: { keys },
    since: oldest.created_at,
  };
}

/** Several processes may come here at once; all go on with the pair of the one that was first. */
async function makeFirst({ databases, secrets, now }: KeyDeps): Promise<SigningKeyRow[]> {
  const pair = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
  const { kty, n, e } = await exportJWK(pair.publicKey);
  const kid = createHash('sha256').update(await exportSPKI(pair.publicKey)).digest('hex').slice(0, 32);
  const row: SigningKeyRow = {
    kid,
    algorithm,
    public_jwk: { kty, n, e, alg: algorithm, use: 'sig', kid },
    private_sealed: secrets.seal('signing-key', kid, Buffer.from(await exportPKCS8(pair.privateKey))),
    created_at: now(),
  };
  return await databases.control.transaction(async (sql) => {
    await insertFirstSigningKey(sql, row);
    return await listSigningKeys(sql);
  });
}

function toPublicJwk({ public_jwk, kid }: SigningKeyRow): PublicJwk {
  const { kty, n, e } = public_jwk;
  if (typeof kty !== 'string' || typeof n !== 'string' || typeof e !== 'string') {
    throw new Error(`signing key ${kid} is not an RSA key`);
  }
  return { kty, n, e, alg: algorithm, use: 'sig', kid };
}
