// Tokens that the server's own routes do not give: of end-users, before there is a way to be one, and broken ones.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { Secrets } from '../../storage/secrets.ts';
import { listSigningKeys } from '../../storage/control/signing-keys.ts';
import { decodeMasterKey } from '../../supervisor/master-key.ts';
import { provisionerEndpoint } from './database.ts';

/** Members of a token. */
export type Claims = Record<string, unknown>;

/** Signs tokens as the shared server would, and as it would not. */
export interface Forge {
  /** A token that the server takes for its own. */
  genuine(claims: Claims): string;
  /** The token of an end-user of a workspace, or of one app of it. */
  user(workspace: string, app?: string): string;
  /** Tokens with these claims that no server may accept, by what is wrong with them. */
  broken(claims: Claims): Record<string, string>;
}

/**
 * Opens the sealed signing key of the shared server with its master key. There are no end-users yet: their tokens can
 * only be made here, and the server cannot tell, since access tokens are stateless.
 */
export async function openForge(): Promise<Forge> {
  const { kid, privateKey } = await readSigningKey();
  const publicPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const header = { alg: 'RS256', typ: 'JWT', kid };
  const genuine = (claims: Claims) => rsa(header, { ...standard(), ...claims }, privateKey);
  return {
    genuine,
    user: (workspace, app) => genuine({ role: 'user', workspace, ...(app === undefined ? {} : { app }) }),
    broken: (claims) => {
      const good = { ...standard(), ...claims };
      const long = Math.floor(Date.now() / 1_000) - 3_600;
      const [head = '', body = ''] = genuine(good).split('.');
      return {
        'expired': rsa(header, { ...good, iat: long - 900, exp: long }, privateKey),
        'not valid yet': rsa(header, { ...good, nbf: long + 7_200 }, privateKey),
        'signed with another key': rsa(header, good, foreign),
        'of an unknown kid': rsa({ ...header, kid: '0'.repeat(32) }, good, privateKey),
        'without a kid': rsa({ alg: 'RS256', typ: 'JWT' }, good, privateKey),
        'of another issuer': rsa(header, { ...good, iss: 'elsewhere' }, privateKey),
        'of no issuer': rsa(header, { ...good, iss: undefined }, privateKey),
        'for an audience': rsa(header, { ...good, aud: 'bulkhead' }, privateKey),
        'without an end': rsa(header, { ...good, exp: undefined }, privateKey),
        'with an end in words': rsa(header, { ...good, exp: String(good.exp) }, privateKey),
        'of nobody': rsa(header, { ...good, sub: '' }, privateKey),
        'issued by a clock that is ahead': rsa(
          header,
          { ...good, iat: long + 7_200, exp: long + 8_000 },
          privateKey,
        ),
        'of another type': rsa({ ...header, typ: 'refresh+jwt' }, good, privateKey),
        'naming a key': rsa({ ...header, jwk: foreign.export({ format: 'jwk' }) }, good, privateKey),
        'saying where keys are': rsa({ ...header, jku: 'http://127.0.0.1:1/keys' }, good, privateKey),
        'saying where a certificate is': rsa({ ...header, x5u: 'http://127.0.0.1:1/cert' }, good, privateKey),
        'unsigned (none)': `${encode({ alg: 'none', typ: 'JWT' })}.${encode(good)}.`,
        'HS256 with the public key': hmac({ ...header, alg: 'HS256' }, good, publicPem),
        'HS256 with an empty secret': hmac({ alg: 'HS256', typ: 'JWT' }, good, ''),
        'without its signature': `${head}.${body}.`,
        'no token at all': 'nonsense',
      };
    },
  };
}

async function readSigningKey(): Promise<{ kid: string; privateKey: KeyObject }> {
  const masterKey = decodeMasterKey(
    readFileSync(join(inject('server').dataDir, 'master.key'), 'utf8').trim(),
  );
  if (masterKey === undefined) throw new Error('the shared server has no master key');
  const pool = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
  const rows = await pool.run(listSigningKeys).finally(() => pool.end());
  const newest = rows.at(-1);
  if (newest === undefined) throw new Error('the shared server has no signing key');
  const pem = new Secrets(masterKey).open('signing-key', newest.kid, newest.private_sealed);
  return { kid: newest.kid, privateKey: createPrivateKey(pem) };
}

function standard(): Claims {
  const now = Math.floor(Date.now() / 1_000);
  return { iss: 'bulkhead', sub: randomUUID(), jti: randomUUID(), iat: now, exp: now + 900 };
}

function rsa(header: object, claims: Claims, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function hmac(header: object, claims: Claims, secret: string | Buffer): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
