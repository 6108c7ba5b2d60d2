// Tokens of an earlier release, which may name their subject by something that is no UUID.
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../../harness/api.ts';
import { startServer, type TestServer } from '../../harness/server.ts';

const legacySecret = 'the secret of a 0.1 release, 32 bytes or more';
const password = 'a password of the master';
const workspace = '/api/workspaces/acme';
const app = `${workspace}/apps/shop`;
const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
let server: TestServer;
let today: Caller;

beforeAll(async () => {
  server = await startServer({ config: { auth: { legacy_hs256_secret: legacySecret } } });
  const stranger = as(undefined, server.url);
  expectOk(await stranger.post('/_/setup', { password }));
  const { access_token } = expectOk(
    await stranger.post('/_/auth/admin/login', { username: 'admin', password }),
  );
  today = as(access_token, server.url);
  expectOk(await today.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await today.post(`${workspace}/apps`, { id: 'shop', name: 'Shop' }));
  expectOk(await today.post(`${app}/collections`, { schema }));
});
afterAll(() => server.stop());

async function bearer(
  claims: { sub: string; role: string; workspace?: string; app?: string },
): Promise<Caller> {
  const now = Math.floor(Date.now() / 1_000);
  const payload = new SignJWT({ iss: 'bulkhead', iat: now - 60, exp: now + 600, ...claims });
  const token = await payload.setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(legacySecret));
  return as(token, server.url);
}

async function newestActor(path: string, action: string): Promise<string> {
  const { items: [entry] } = expectOk(await today.get(`${path}?action=${action}`));
  return entry.actor;
}

function expectGone({ status, body }: ApiResponse): void {
  expect([status, body]).toEqual([
    401,
    { code: 'unauthorized', message: expect.stringMatching(/ is gone$/) },
  ]);
}

describe('jwt.legacy-hs256: a subject that is no UUID', () => {
  it('of a master admin makes changes, under its own name', async () => {
    const master = await bearer({ sub: 'root', role: 'master_admin' });
    expectOk(await master.post('/api/workspaces', { id: 'other', name: 'Other' }));
    expect(await newestActor('/api/system/audit', 'workspace_create')).toBe('root');
    expectOk(await master.put('/api/system/policies/a.b', { kind: 'free' }));
  });

  it('of a workspace admin makes changes, under its own name', async () => {
    const admin = await bearer({ sub: '17', role: 'workspace_admin', workspace: 'acme' });
    expectOk(await admin.put(`${workspace}/policies/a.b`, { kind: 'free' }));
    expect(await newestActor(`${workspace}/audit`, 'policy_set')).toBe('17');
    expectOk(await admin.post(`${workspace}/apps`, { id: 'blog', name: 'Blog' }));
  });

  it('of an app admin reads and changes its app', async () => {
    const admin = await bearer({ sub: 'pat', role: 'app_admin', workspace: 'acme', app: 'shop' });
    expectOk(await admin.put(`${app}/policies/a.b`, { kind: 'free' }));
    expect(await newestActor(`${app}/audit`, 'policy_set')).toBe('pat');
    expectOk(await admin.post(`${app}/collections/notes/records`, { title: 'a note' }));
    const filter = encodeURIComponent('@request.auth.email = null');
    expect(expectOk(await admin.get(`${app}/collections/notes/records?filter=${filter}`)).total_items).toBe(
      1,
    );
  });

  it('of an end-user has uploaded no files', async () => {
    const user = await bearer({ sub: 'ann', role: 'user', workspace: 'acme' });
    expect(expectOk(await user.get(`${app}/files`)).items).toEqual([]);
    expectGone(await user.post(`${app}/files`, 'some text', { 'Content-Type': 'text/plain' }));
  });

  it('is nobody whose account could be shown or changed', async () => {
    const master = await bearer({ sub: 'root', role: 'master_admin' });
    const change = { current_password: password, new_password: 'another password' };
    expectGone(await master.post('/_/auth/admin/password', change));
    const admin = await bearer({ sub: '17', role: 'workspace_admin', workspace: 'acme' });
    const user = await bearer({ sub: 'ann', role: 'user', workspace: 'acme' });
    for (const caller of [master, admin, user]) expectGone(await caller.get(`${workspace}/auth/me`));
  });
});
