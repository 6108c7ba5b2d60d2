// A key set in which some entries are of no use.
import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { deriveNonce, readIdToken } from '../../../../api/auth/oauth/id-token.ts';
import { IssuerKeys } from '../../../../api/auth/oauth/issuer-keys.ts';
import { testEgress } from '../../../harness/egress.ts';

const issuer = 'https://issuer.example';
const [clientId, codeVerifier] = ['bulkhead', 'a verifier'];
const now = new Date('2026-11-21T12:00:00Z');
const { publicKey, privateKey } = await generateKeyPair('RS256');
const good = { ...await exportJWK(publicKey), kid: 'one', use: 'sig', alg: 'RS256' };
const privateRsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

it.each<[string, unknown]>([
  ['of no type', { kid: 'one' }],
  ['of a type that nobody knows', { kid: 'one', kty: 'XYZ' }],
  ['without a modulus', { kid: 'one', kty: 'RSA', e: 'AQAB', alg: 'RS256' }],
  ['with a private key', { ...privateRsa.export({ format: 'jwk' }), kid: 'one' }],
  ['with a secret', { kid: 'one', kty: 'oct', k: 'AAAA', alg: 'HS256' }],
  ['that is null', null],
  ['that is a text', 'key'],
  ['whose algorithm is a number', { kid: 'one', kty: 'RSA', e: 'AQAB', n: 'AQAB', alg: 7 }],
])('oauth.one-bad-key: an entry %s is skipped, and the others count', async (_what, entry) => {
  const pages: Record<string, unknown> = {
    '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
    '/keys': { keys: [entry, good, entry] },
  };
  const egress = testEgress();
  egress.send = ({ url }) => {
    const body = Buffer.from(JSON.stringify(pages[url.pathname]));
    return Promise.resolve({ url, status: 200, statusText: 'OK', headers: [], body });
  };
  const claims = { nonce: deriveNonce(codeVerifier), sub: 'somebody', iss: issuer, aud: clientId };
  const iat = now.getTime() / 1_000;
  const token = await new SignJWT({ ...claims, iat, exp: iat + 300 })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(privateKey);
  const deps = { egress, issuerKeys: new IssuerKeys(), observe: () => expect.fail() };
  const context = { deps, workspace: 'w', provider: 'p' };
  expect(await readIdToken(context, token, { issuer, clientId, codeVerifier, now })).toBe('somebody');
  await egress.close();
});
