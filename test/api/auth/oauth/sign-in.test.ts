// Signing in by a provider: the whole way, at a real one.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { enrol } from '../../../harness/authenticator.ts';
import { authorize, redeem, redirectUri, signInBy, useProvider, visit } from '../../../harness/oauth.ts';
import { type OpenIdPeer, type PeerOptions, startOpenIdPeer } from '../../../harness/openid.ts';
import { peerWorkspace, somebodyAt } from '../../../harness/peer-workspace.ts';
import { freshEmail, ownUser } from '../../../harness/users.ts';
import { claimsOf, cookiesOf } from '../../../harness/tokens.ts';

let own: OwnWorkspace;
let peer: OpenIdPeer;
let auth: string;

beforeAll(async () => {
  ({ own, peer } = await peerWorkspace());
  auth = `${own.path}/auth`;
});
afterAll(() => peer.close());

describe('authorize', () => {
  it('answers the URL of the provider with everything in it', async () => {
    const response = await authorize(own, 'peer');
    const { authorize_url, state } = expectOk(response);
    const { origin, pathname, searchParams } = new URL(authorize_url);
    expect(origin + pathname).toBe(peer.config.auth_url);
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: peer.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });

  it('makes another state and another challenge each time', async () => {
    const bodies = await Promise.all([authorize(own, 'peer'), authorize(own, 'peer')]);
    const parameters = bodies.map(({ body }) => new URL(body.authorize_url).searchParams);
    for (const name of ['state', 'code_challenge', 'nonce']) {
      expect(new Set(parameters.map((all) => all.get(name))).size).toBe(2);
    }
  });

  it('keeps what the URL of the provider has in its query', async () => {
    const { clientId: client_id, config } = peer;
    const auth_url = `${config.auth_url}?tenant=5&state=fixed`;
    expectOk(
      await own.admin.put(`${auth}/oauth/providers/query`, { client_id, config: { ...config, auth_url } }),
    );
    const { authorize_url, state } = expectOk(await authorize(own, 'query'));
    const { searchParams } = new URL(authorize_url);
    expect([searchParams.get('tenant'), searchParams.getAll('state')]).toEqual(['5', [state]]);
  });

  it('asks for no scope and no nonce where there are none to ask for', async () => {
    const { clientId: client_id, config: { issuer: _issuer, ...config } } = peer;
    for (const [scopes, scope] of [[[], null], [['email'], 'email']]) {
      const settings = { client_id, config: { ...config, scopes } };
      expectOk(await own.admin.put(`${auth}/oauth/providers/scopes`, settings));
      const { searchParams } = new URL(expectOk(await authorize(own, 'scopes')).authorize_url);
      expect([searchParams.get('scope'), searchParams.get('nonce')]).toEqual([scope, null]);
    }
  });

  it('does not know a provider that nobody has set up', async () => {
    expect((await authorize(own, 'ghost')).body.code).toBe('not_found');
    expect((await redeem(own, 'ghost', { code: 'x', state: 'x' })).body.code).toBe('not_found');
  });
});

describe('a sign-in by a provider', () => {
  it('makes a user without a password the first time, and finds it later', async () => {
    const person = somebodyAt(peer);
    const { email } = person;
    const first = await signInBy(own, 'peer', person);
    const { user, access_token, refresh_token } = expectOk(first);
    expect(user).toMatchObject({ email, verified: true, has_password: false, oauth_providers: ['peer'] });
    expect(Date.parse(user.last_login)).toBeGreaterThan(Date.now() - 60_000);
    expect(cookiesOf(first)).toHaveLength(2);
    expect(claimsOf(access_token)).toMatchObject({ role: 'user', sub: user.id, workspace: own.id });
    expect(expectOk(await as(access_token).get(`${auth}/me`)).email).toBe(email);
    expectOk(await as().post(`${auth}/users/refresh`, { refresh_token }));
    expect(expectOk(await signInBy(own, 'peer', person)).user.id).toBe(user.id);
  });

  it('finds the user by the account when its address has changed at the provider', async () => {
    const person = somebodyAt(peer);
    const { user } = expectOk(await signInBy(own, 'peer', person));
    peer.know({ login: person.login, email: freshEmail(), emailVerified: true });
    expect(expectOk(await signInBy(own, 'peer', person)).user).toMatchObject({
      id: user.id,
      email: person.email,
    });
  });

  it('links a user whose provider writes an international domain in its other form', async () => {
    const name = randomUUID();
    const user = await ownUser(own, `${name}@bücher.example`);
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    const person = somebodyAt(peer, { email: `${name}@xn--bcher-kva.example` });
    expect(expectOk(await signInBy(own, 'peer', person)).user).toMatchObject({
      id: user.id,
      email: user.email,
    });
  });

  it('links a user whose address was verified, who keeps the password', async () => {
    const user = await ownUser(own);
    expectOk(await own.admin.patch(`${own.path}/users/${user.id}/verify`, { verified: true }));
    const session = expectOk(
      await signInBy(own, 'peer', somebodyAt(peer, { email: user.email.toUpperCase() })),
    );
    expect(session.user).toMatchObject({ id: user.id, has_password: true, oauth_providers: ['peer'] });
    expectOk(await user.get(`${auth}/me`));
    expectOk(await as().post(`${auth}/users/login`, { email: user.email, password: user.password }));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=oauth_link`));
    expect(items).toContainEqual(expect.objectContaining({
      actor: user.email,
      target: user.email,
      details: expect.objectContaining({ id: user.id, provider: 'peer', credentials_dropped: false }),
    }));
  });

  it('answers tokens for one app, and none for an app that does not exist', async () => {
    const app = await own.app();
    const person = somebodyAt(peer);
    const there = { ...await visit(own, 'peer', person), app: app.id };
    expect(claimsOf(expectOk(await redeem(own, 'peer', there)).access_token)).toMatchObject({ app: app.id });
    const nowhere = { ...await visit(own, 'peer', person), app: 'ghost' };
    expect((await redeem(own, 'peer', nowhere)).body.code).toBe('forbidden');
  });

  it('is in the audit log', async () => {
    const { email, ...person } = somebodyAt(peer);
    const { user } = expectOk(await signInBy(own, 'peer', person));
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?actor=${encodeURIComponent(email)}`));
    const entries = items.filter(({ actor }: { actor: string }) => actor === email);
    expect(entries.map(({ action }: { action: string }) => action).sort()).toEqual([
      'login_success',
      'user_register',
    ]);
    const { details } = entries.find(({ action }: { action: string }) => action === 'user_register');
    expect(details).toMatchObject({ id: user.id, by: 'oauth', provider: 'peer' });
  });

  it('mfa.no-bypass: asks for the second factor', async () => {
    const person = somebodyAt(peer);
    const { access_token, user } = expectOk(await signInBy(own, 'peer', person));
    const authenticator = await enrol(as(access_token), auth);
    const response = await signInBy(own, 'peer', person);
    expect(response.status).toBe(202);
    expect(response.body).toEqual({ mfa_required: true, challenge_id: expect.any(String) });
    expect(cookiesOf(response)).toEqual([]);
    const { challenge_id } = response.body;
    const session = await as().post(`${auth}/users/login/totp`, { challenge_id, code: authenticator.code() });
    expect(expectOk(session).user.id).toBe(user.id);
  });

  it.each([false, true])('is locked with the user (second factor: %s)', async (hasSecondFactor) => {
    const person = somebodyAt(peer);
    const { access_token } = expectOk(await signInBy(own, 'peer', person));
    if (hasSecondFactor) await enrol(as(access_token), auth);
    for (const password of ['1', '2', '3', '4', '5']) {
      await as().post(`${auth}/users/login`, { email: person.email, password });
    }
    expect((await signInBy(own, 'peer', person)).body.code).toBe('too_many_requests');
  });

  it('ends with the user, and begins anew with another one', async () => {
    const person = somebodyAt(peer);
    const { user } = expectOk(await signInBy(own, 'peer', person));
    expectOk(await own.admin.delete(`${own.path}/users/${user.id}`));
    expect(expectOk(await signInBy(own, 'peer', person)).user.id).not.toBe(user.id);
  });
});

describe('policy auth.methods', () => {
  it('switches it off, at its beginning and at its end', async () => {
    const other = await ownWorkspace();
    await useProvider(other, 'peer', peer);
    const back = await visit(other, 'peer', somebodyAt(peer));
    const policy = `${other.path}/policies/auth.methods`;
    expectOk(await other.admin.put(policy, { kind: 'enum_set', allowed: ['password', 'otp'] }));
    expect((await authorize(other, 'peer')).body.code).toBe('forbidden');
    expect((await redeem(other, 'peer', back)).body.code).toBe('forbidden');
    expectOk(await other.admin.delete(policy));
    expectOk(await redeem(other, 'peer', back));
  });
});

describe('the client secret', () => {
  const ways: PeerOptions['authMethod'][] = ['client_secret_post', 'client_secret_basic'];

  it.each(ways)('is shown as the provider wants it: %s', async (authMethod = 'client_secret_post') => {
    const clientSecret = 'with : + % / & = ~ in it';
    const other = await startOpenIdPeer({ redirectUris: [redirectUri], authMethod, clientSecret });
    try {
      const config = { ...other.config, token_auth_method: authMethod };
      await useProvider(own, authMethod, { ...other, config });
      other.know({ login: 'someone', email: freshEmail(), emailVerified: true });
      expectOk(await signInBy(own, authMethod, { peer: other, login: 'someone' }));
      // This provider takes it either way.
      const way = authMethod === 'client_secret_basic' ? expect.stringMatching(/^Basic /) : undefined;
      expect(other.authorization()).toEqual(way);
    } finally {
      await other.close();
    }
  });

  it('is needed: with a wrong one the provider does not accept the code', async () => {
    await useProvider(own, 'wrong', { ...peer, clientSecret: 'wrong' });
    const response = await signInBy(own, 'wrong', somebodyAt(peer));
    expect([response.status, response.body.code]).toEqual([401, 'bad_credentials']);
  });
});
