// ID tokens: what of them a sign-in is refused for, at a real provider and by one that signs whatever it is told.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveNonce, readIdToken } from '../../../../api/auth/oauth/id-token.ts';
import { IssuerKeys } from '../../../../api/auth/oauth/issuer-keys.ts';
import type { Egress } from '../../../../api/egress/client.ts';
import type { LogEvent } from '../../../../api/logging/events.ts';
import { type ApiResponse, as, expectOk, type OwnWorkspace } from '../../../harness/api.ts';
import { testEgress } from '../../../harness/egress.ts';
import { authorize, redeem, redirectUri, signInBy, useProvider, visit } from '../../../harness/oauth.ts';
import { type OpenIdPeer, startOpenIdPeer } from '../../../harness/openid.ts';
import { peerWorkspace, somebodyAt } from '../../../harness/peer-workspace.ts';

describe('oauth.id-token: at a real provider', () => {
  let own: OwnWorkspace;
  let peer: OpenIdPeer;

  beforeAll(async () => {
    ({ own, peer } = await peerWorkspace());
  });
  afterAll(() => peer.close());

  async function expectRefused(response: ApiResponse, status: number, code: string): Promise<void> {
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(response.body).not.toHaveProperty('access_token');
    const { items } = expectOk(await own.admin.get(`${own.path}/users?per_page=200`));
    expect(
      items.filter(({ oauth_providers }: { oauth_providers: string[] }) => oauth_providers.includes('other')),
    )
      .toEqual([]);
  }

  it('oauth.id-token: a sign-in whose token stands up is let in', async () => {
    expect(expectOk(await signInBy(own, 'peer', somebodyAt(peer))).user.oauth_providers).toEqual(['peer']);
  });

  it('oauth.id-token: one with the nonce of another sign-in is refused', async () => {
    const { authorize_url } = expectOk(await authorize(own, 'peer'));
    const url = new URL(authorize_url);
    url.searchParams.set('nonce', 'A'.repeat(43));
    const back = await peer.signIn(url.href, somebodyAt(peer).login);
    await expectRefused(await redeem(own, 'peer', back), 401, 'bad_credentials');
  });

  it('oauth.id-token: one without a nonce is refused', async () => {
    const { authorize_url } = expectOk(await authorize(own, 'peer'));
    const url = new URL(authorize_url);
    url.searchParams.delete('nonce');
    const back = await peer.signIn(url.href, somebodyAt(peer).login);
    await expectRefused(await redeem(own, 'peer', back), 401, 'bad_credentials');
  });

  it('oauth.id-token: user info of another subject is refused', async () => {
    const response = await signInBy(own, 'peer', somebodyAt(peer, { mistakenFor: 'the owner of the house' }));
    await expectRefused(response, 401, 'bad_credentials');
  });

  it('oauth.id-token: a token that the issuer did not sign is refused', async () => {
    const other = await startOpenIdPeer({ redirectUris: [redirectUri] });
    try {
      await useProvider(own, 'other', { ...peer, config: { ...peer.config, issuer: other.issuer } });
      await expectRefused(await signInBy(own, 'other', somebodyAt(peer)), 401, 'bad_credentials');
    } finally {
      await other.close();
    }
  });

  it('oauth.id-token: keys of the issuer are asked for once, and again when it has new ones', async () => {
    const turning = await startOpenIdPeer({ redirectUris: [redirectUri] });
    try {
      await useProvider(own, 'turning', turning);
      const signIn = () => signInBy(own, 'turning', somebodyAt(turning));
      for (let count = 0; count < 3; count++) expectOk(await signIn());
      expect(turning.keyRequests()).toBe(1);
      turning.turnKeys();
      for (let count = 0; count < 3; count++) expectOk(await signIn());
      expect(turning.keyRequests()).toBe(2);
    } finally {
      await turning.close();
    }
  });

  it('oauth.id-token: an issuer that is not found at its URL, or calls itself another, is no help', async () => {
    for (const issuer of [`${peer.issuer}/nowhere`, peer.issuer.replace('127.0.0.1', 'localhost')]) {
      await useProvider(own, 'other', { ...peer, config: { ...peer.config, issuer } });
      await expectRefused(await signInBy(own, 'other', somebodyAt(peer)), 503, 'unavailable');
    }
  });

  it('oauth.id-token: without an issuer the user info alone says who it is', async () => {
    const { issuer: _issuer, ...config } = peer.config;
    await useProvider(own, 'plain', { ...peer, config });
    const back = await visit(own, 'plain', somebodyAt(peer));
    const response = await as().post(`${own.path}/auth/oauth/plain/callback`, {
      code: back.code,
      state: back.state,
    });
    expect(expectOk(response).user.oauth_providers).toEqual(['plain']);
  });
});

describe('oauth.id-token: of an issuer that signs whatever it is told', () => {
  const codeVerifier = 'a verifier';
  const clientId = 'bulkhead';
  const issuerKeys = new IssuerKeys();
  const now = new Date('2026-11-21T12:00:00Z');
  const seconds = now.getTime() / 1_000;
  let server: Server;
  let issuer: string;
  let egress: Egress;
  let sign: (claims: JWTPayload) => Promise<string>;
  let facts: LogEvent[];
  let workspace = 'w';
  let jwks: { keys: JWK[] };
  /** What the issuer says at a path, in place of the truth. */
  let spoilt: Record<string, { status?: number; value: unknown }> = {};

  beforeAll(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    jwks = { keys: [{ ...await exportJWK(publicKey), kid: 'one', use: 'sig', alg: 'RS256' }] };
    sign = (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
    server = createServer(({ url = '' }, response) => {
      const truth: Record<string, unknown> = {
        '/.well-known/openid-configuration': { issuer, jwks_uri: new URL('/keys', issuer) },
        '/keys': jwks,
      };
      const { status = 200, value } = spoilt[url] ?? { value: truth[url] };
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = testEgress();
  });
  afterAll(async () => {
    await egress.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const good = () => ({
    iss: issuer,
    aud: clientId,
    sub: 'somebody',
    nonce: deriveNonce(codeVerifier),
    iat: seconds - 5,
    exp: seconds + 300,
  });

  async function read(token: string | undefined): Promise<string> {
    facts = [];
    const deps = { egress, issuerKeys, observe: (fact: LogEvent) => void facts.push(fact) };
    const expected = { issuer, clientId, codeVerifier, now };
    return await readIdToken({ deps, workspace, provider: 'p' }, token, expected);
  }

  async function expectRefused(token: string | undefined, reason: string): Promise<void> {
    await expect(read(token)).rejects.toMatchObject({ code: 'bad_credentials' });
    expect(facts).toEqual([
      { type: 'provider_failed', workspace, provider: 'p', step: 'id_token', reason },
    ]);
  }

  it('is read when it is good, and its clock a little off', async () => {
    expect(await read(await sign(good()))).toBe('somebody');
    expect(await read(await sign({ ...good(), exp: seconds - 59, nbf: seconds + 60 }))).toBe('somebody');
    expect(await read(await sign({ ...good(), aud: [clientId, 'else'], azp: clientId }))).toBe('somebody');
    expect(await read(await sign({ ...good(), aud: [clientId] }))).toBe('somebody');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['of another issuer', { iss: 'https://idp.example' }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['for another client', { aud: 'else' }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['for several clients, of no one', { aud: [clientId, 'else'] }, 'it was given to another client'],
    ['given to another client', { azp: 'else' }, 'it was given to another client'],
    ['that is over', { exp: seconds - 60 }, 'ERR_JWT_EXPIRED'],
    ['that does not end', { exp: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['that does not say since when', { iat: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['of a time to come', { iat: seconds + 600 }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['of long ago', { iat: seconds - 86_400 }, 'ERR_JWT_EXPIRED'],
    ['that is not good yet', { nbf: seconds + 61 }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['of nobody', { sub: undefined }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['of another sign-in', { nonce: deriveNonce('another') }, 'the nonce is that of another sign-in'],
  ])('oauth.id-token: one %s is refused', async (_what, wrong, reason) => {
    await expectRefused(await sign({ ...good(), ...wrong }), reason);
  });

  it('oauth.id-token: one that nobody signed, or whoever knows the public key, is refused', async () => {
    await expectRefused(undefined, 'there is none');
    await expectRefused('no token', 'ERR_JWS_INVALID');
    await expectRefused(new UnsecuredJWT(good()).encode(), 'ERR_JOSE_ALG_NOT_ALLOWED');
    const key = createHash('sha256').update('the public key').digest();
    const forged = new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(key);
    await expectRefused(await forged, 'ERR_JOSE_ALG_NOT_ALLOWED');
    const [head, body, signature = ''] = (await sign(good())).split('.');
    const claims = Buffer.from(JSON.stringify({ ...good(), sub: 'the owner' })).toString('base64url');
    expect(claims).not.toBe(body);
    await expectRefused([head, claims, signature].join('.'), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
  });

  const discovery = '/.well-known/openid-configuration';
  it.each<[string, string, string, () => { status?: number; value: unknown }]>([
    ['answers with an error', 'discovery', discovery, () => ({
      status: 404,
      value: { issuer, jwks_uri: `${issuer}/keys` },
    })],
    ['tells of no keys', 'discovery', discovery, () => ({ value: { issuer } })],
    ['has keys nowhere', 'discovery', discovery, () => ({ value: { issuer, jwks_uri: '/keys' } })],
    ['tells its keys with an error', 'keys', '/keys', () => ({ status: 404, value: jwks })],
    ['tells no list of keys', 'keys', '/keys', () => ({ value: { keys: { 0: jwks.keys[0] } } })],
  ])('oauth.id-token: an issuer that %s is no help', async (what, step, path, response) => {
    spoilt = { [path]: response() };
    workspace = what;
    try {
      await expect(read(await sign(good()))).rejects.toMatchObject({ code: 'unavailable' });
      expect(facts).toMatchObject([{ type: 'provider_failed', step }]);
    } finally {
      [spoilt, workspace] = [{}, 'w'];
    }
  });

  it('may have a slash at its end (OpenID Connect Discovery 1.0 section 4.1)', async () => {
    const before = issuer;
    issuer = `${before}/`;
    expect(await read(await sign(good())).finally(() => issuer = before)).toBe('somebody');
  });

  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' });
  it.each<[string, object]>([
    ['too small', { n: small.n }],
    ['whose modulus is a number', { n: 5 }],
    ['whose modulus is no number', { n: 'A' }],
  ])(
    'oauth.id-token: of an issuer with a key %s it is refused',
    async (what, wrong) => {
      const before = [jwks, workspace] as const;
      [jwks, workspace] = [{ keys: jwks.keys.map((key) => ({ ...key, ...wrong })) }, what];
      try {
        await expectRefused(await sign(good()), 'ERR_JWKS_INVALID');
      } finally {
        [jwks, workspace] = before;
      }
    },
  );
});
