// Access tokens that are not ours, or no longer.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { exportSPKI, importJWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { openForge } from '../../../harness/forge.ts';
import { type Claims, claimsOf, encode, headerOf } from '../../../harness/tokens.ts';

let token: string;
let refreshToken: string;
let claims: Claims;
let kid: string;
let jwk: { n: string; e: string; kty: string };
let pem: string;
let workspace: OwnWorkspace;
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

beforeAll(async () => {
  workspace = await ownWorkspace();
  const { masterPassword: password } = inject('server');
  const session = expectOk(await as().post('/_/auth/admin/login', { username: 'admin', password }));
  token = session.access_token;
  refreshToken = session.refresh_token;
  claims = claimsOf(token);
  kid = headerOf(token).kid;
  jwk = expectOk(await as().get('/.well-known/jwks.json')).keys[0];
  const key = await importJWK({ ...jwk }, 'RS256', { extractable: true });
  pem = key instanceof Uint8Array ? '' : await exportSPKI(key);
});

/** A token with the real claims and kid, signed by a key that is not the server's. */
function signedByStranger(header: object, changes: object = {}): string {
  const content = `${encode({ alg: 'RS256', typ: 'JWT', kid, ...header })}.${
    encode({ ...claims, ...changes })
  }`;
  return `${content}.${sign('sha256', Buffer.from(content), stranger.privateKey).toString('base64url')}`;
}

async function hmac(secret: string | Buffer, header: object = {}): Promise<string> {
  return await new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header })
    .sign(Buffer.from(secret));
}

const forgeries: Record<string, () => string | Promise<string>> = {
  'alg none': () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`,
  'alg none with our kid and signature': () =>
    `${encode({ alg: 'none', kid })}.${token.split('.').slice(1).join('.')}`,
  'alg in other letters': () => `${encode({ alg: 'NONE', kid })}.${encode(claims)}.`,
  'HS256 with the public PEM': () => hmac(pem),
  'HS256 with the public PEM and our kid': () => hmac(pem, { kid }),
  'HS256 with the public JWK': () => hmac(JSON.stringify(jwk)),
  'HS256 with the modulus': () => hmac(Buffer.from(jwk.n, 'base64url'), { kid }),
  'HS256 with an empty-looking secret': () => hmac('\0'),
  'another RSA key under our kid': () => signedByStranger({}),
  'RS512': () => signedByStranger({ alg: 'RS512' }),
  'PS256': () => signedByStranger({ alg: 'PS256' }),
  'an unknown kid': () => signedByStranger({ kid: 'f'.repeat(32) }),
  'no kid': () => signedByStranger({ kid: undefined }),
  'a kid that is a path': () => signedByStranger({ kid: '../../../dev/null' }),
  'a kid that is SQL': () => signedByStranger({ kid: "x' or true --" }),
  'a jwk of its own': () =>
    signedByStranger({ kid: 'own', jwk: stranger.publicKey.export({ format: 'jwk' }) }),
  'a jku of its own': () => signedByStranger({ kid: 'own', jku: 'http://127.0.0.1:1/keys.json' }),
  'an x5u of its own': () => signedByStranger({ kid: 'own', x5u: 'http://127.0.0.1:1/cert.pem' }),
  'our own token with another payload': () => {
    const [header, , signature] = token.split('.');
    return `${header}.${encode({ ...claims, exp: claims.exp + 1_000 })}.${signature}`;
  },
  'our own token with a longer header': () => {
    const [, payload, signature] = token.split('.');
    return `${encode({ alg: 'RS256', typ: 'JWT', kid, crit: ['exp'] })}.${payload}.${signature}`;
  },
  'our own token without its signature': () => `${token.split('.').slice(0, 2).join('.')}.`,
  'our own token cut short': () => token.slice(0, -4),
  'a refresh token': () => refreshToken,
  'a word': () => 'nonsense',
  'an array of tokens': () => `${token},${token}`,
  'three dots': () => '...',
  'a token of 8 KiB': () => `${token}${'A'.repeat(8_192)}`,
};

describe('jwt.confusion: a token is refused everywhere when it is', () => {
  it.each(Object.keys(forgeries))('%s', async (name) => {
    const forged = await forgeries[name]?.();
    const caller = as(forged);
    for (const path of ['/api/workspaces', workspace.path, `${workspace.path}/auth/me`]) {
      const response = await caller.get(path);
      expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
    }
    const byCookie = await as().get('/api/workspaces', { Cookie: `svc_at=${forged}` });
    expect(byCookie.status).toBe(401);
  });

  it('ours by its key, but not by what it says', async () => {
    const forge = await openForge();
    expectOk(await as(forge.genuine({ role: 'master_admin', sub: claims.sub })).get('/api/workspaces'));
    const broken = Object.entries(forge.broken({ role: 'master_admin', sub: claims.sub }));
    expect(broken.map(([what]) => what)).toEqual(
      expect.arrayContaining([
        'expired',
        'not valid yet',
        'of another issuer',
        'for an audience',
        'of another type',
      ]),
    );
    for (const [what, text] of broken) {
      expect([what, (await as(text).get('/api/workspaces')).status]).toEqual([what, 401]);
    }
  });

  it('but ours is good', async () => {
    expect((await as(token).get('/api/workspaces')).status).toBe(200);
  });
});

describe('an Authorization header', () => {
  it.each(['Basic YTpi', 'Bearer', 'Bearer ', 'Token x', ''])('of "%s" is refused', async (value) => {
    const response = await as().get('/api/workspaces', { Authorization: value });
    expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
  });

  it('counts, not the cookie, when there are both', async () => {
    const headers = { Authorization: 'Bearer nonsense', Cookie: `svc_at=${token}` };
    expect((await as().get('/api/workspaces', headers)).status).toBe(401);
  });

  it('may spell its scheme in any case', async () => {
    expect((await as().get('/api/workspaces', { Authorization: `bEaReR ${token}` })).status).toBe(200);
  });
});

describe('what a token that is refused says', () => {
  it('names neither key nor reason inside the library', async () => {
    const response = await as(`${encode({ alg: 'RS256', kid: randomUUID() })}.${encode(claims)}.AAAA`).get(
      '/api/workspaces',
    );
    expect(response.body).toEqual({ code: 'unauthorized', message: 'the access token is not valid' });
  });
});
