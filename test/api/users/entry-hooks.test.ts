// Hooks of users who come in: asked before a registration by their app, told after a login to it.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { redeem, visit } from '../../harness/oauth.ts';
import { type OpenIdPeer } from '../../harness/openid.ts';
import { peerWorkspace, somebodyAt } from '../../harness/peer-workspace.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { freshEmail } from '../../harness/users.ts';

const source = `
onUserBeforeRegister(async (e) => {
  if (e.user.email.startsWith('banned')) throw new FieldError('email', 'not you', 'banned');
  if (e.user.email.startsWith('silent')) return false;
  if (e.profile) e.profile.fields.nick = e.profile.fields.nick + ' of ' + e.method;
  await $app.records.create('seen', { what: e.action + ' by ' + e.method, data: { ...e.user, auth: e.auth } });
});
onRecordBeforeCreate('members', (e) => { e.record.fields.nick += '!'; });
onUserAfterLogin(async (e) => {
  await $app.records.create('seen', { what: e.action + ' by ' + e.method, data: { ...e.user, auth: e.auth } });
  throw new Error('after all');
});`;

const password = 'a password of the user';
let place: Scenario;
let own: OwnWorkspace;
let peer: OpenIdPeer;
let auth: string;

beforeAll(async () => {
  ({ own, peer } = await peerWorkspace());
  place = await scenario({
    workspace: own,
    collections: { seen: [{ name: 'what', kind: 'text' }, { name: 'data', kind: 'json' }] },
    hooks: { 'users.js': source },
  });
  const schema = { id: 'members', kind: 'auth', fields: [{ name: 'nick', kind: 'text' }] };
  expectOk(await place.admin.post(place.collections, { schema }));
  await place.setRules('members', { create: 'any' });
  auth = `${own.path}/auth`;
  return () => peer.close();
});

const register = (email: string, app?: string): Promise<ApiResponse> =>
  as().post(`${auth}/users/register`, { email, password, ...app !== undefined && { app } });
const login = (email: string, app?: string): Promise<ApiResponse> =>
  as().post(`${auth}/users/login`, { email, password, ...app !== undefined && { app } });
async function codeLogin(email: string): Promise<ApiResponse> {
  expectOk(await as().post(`${auth}/otp/request`, { email }));
  return await as().post(`${auth}/otp/login`, { email, code: await secretFor(email), app: place.app.id });
}
async function providerLogin(person: ReturnType<typeof somebodyAt>): Promise<ApiResponse> {
  const { code, state } = await visit(own, 'peer', person);
  return await redeem(own, 'peer', { code: String(code), state: String(state), app: place.app.id });
}
const profile = (email: string): Promise<ApiResponse> =>
  as().post(place.records('members'), { email, password, nick: 'ada' });

/** What hooks have seen of a user, oldest first. */
async function seen(email: string): Promise<{ what: string; data: Record<string, unknown> }[]> {
  const filter = encodeURIComponent(`data.email = '${email}'`);
  const { items } = expectOk(await place.admin.get(`${place.records('seen')}?sort=id&filter=${filter}`));
  return items.map(({ fields }: { fields: unknown }) => fields);
}
async function isUser(email: string): Promise<boolean> {
  const found = await own.admin.get(`${own.path}/users?q=${encodeURIComponent(email)}`);
  return expectOk(found).total_items === 1;
}

describe('a hook before registrations', () => {
  it('hears of every way to become a user by its app', async () => {
    const emails = [freshEmail(), freshEmail(), freshEmail(), freshEmail()] as const;
    const user = expectOk(await register(emails[0], place.app.id));
    expect(await seen(emails[0])).toEqual([{
      what: 'register by password',
      data: { id: user.id, email: emails[0], verified: false, auth: null },
    }]);
    const coded = expectOk(await codeLogin(emails[1])).user;
    const shown = { id: coded.id, email: emails[1], verified: true };
    const [first, second, ...others] = await seen(emails[1]);
    expect(first).toEqual({ what: 'register by otp', data: { ...shown, auth: null } });
    expect(second).toMatchObject({
      what: 'login by otp',
      data: { ...shown, auth: { role: 'user', id: coded.id } },
    });
    expect(others).toEqual([]);
    const person = somebodyAt(peer, { email: emails[2] });
    const provided = expectOk(await providerLogin(person)).user;
    expect((await seen(emails[2]))[0]).toMatchObject({
      what: 'register by oauth',
      data: { id: provided.id },
    });
    const made = expectOk(await profile(emails[3]));
    expect(await seen(emails[3])).toEqual([{
      what: 'register by profile',
      data: { id: made.id, email: emails[3], verified: false, auth: null },
    }]);
    // It may change the profile, before the hooks of its record see it.
    expect(made.fields.nick).toBe('ada of profile!');
  });

  it('refuses, and nobody is a user then', async () => {
    const banned = `banned-${freshEmail()}`;
    const refused = await register(banned, place.app.id);
    expectError(refused, 400, 'hook_veto');
    expect(refused.body.errors).toEqual([{ path: 'email', code: 'banned', message: 'not you' }]);
    const silent = await register(`silent-${freshEmail()}`, place.app.id);
    expect(silent.body).toMatchObject({ code: 'hook_veto', message: 'a hook refused the write' });
    expectError(await codeLogin(banned), 400, 'hook_veto');
    expectError(await providerLogin(somebodyAt(peer, { email: banned })), 400, 'hook_veto');
    expectError(await profile(banned), 400, 'hook_veto');
    const requests = [{ method: 'POST', collection: 'members', body: { email: banned, password } }];
    expectError(await as().post(`${place.app.path}/batch`, { requests }), 400, 'hook_veto');
    expect(await isUser(banned)).toBe(false);
  });

  it('hears nothing of those who are users already, of other apps, or of the workspace', async () => {
    const email = freshEmail();
    expectOk(await register(email));
    expectError(await register(email, place.app.id), 409, 'conflict');
    expectOk(await codeLogin(email));
    expectOk(await as().post(place.records('members'), { email, nick: 'bob' }));
    const other = await own.app();
    expectOk(await register(`banned-${freshEmail()}`, other.id));
    expect((await seen(email)).map(({ what }) => what)).toEqual(['login by otp']);
  });

  it('fails closed when it does not load, and for an app that is not there', async () => {
    const { app, admin } = await scenario({ workspace: own, hooks: { 'b.js': '' } });
    const file = `import './b.js';\nonUserBeforeRegister(() => {});`;
    expectOk(await admin.put(`${app.path}/hooks/a.js`, { source: file }));
    expectOk(await admin.delete(`${app.path}/hooks/b.js`));
    const email = freshEmail();
    expectError(await register(email, app.id), 500, 'hook_error');
    expect(await isUser(email)).toBe(false);
    expectError(await register(email, 'ghost'), 403, 'forbidden');
  });
});

describe('a hook after logins', () => {
  it('hears of those to its app, and changes nothing of their response', async () => {
    const email = freshEmail();
    const { id } = expectOk(await register(email));
    expectOk(await login(email));
    expect(await seen(email)).toEqual([]);
    expectOk(await login(email, place.app.id));
    const caller = { id, email, role: 'user', workspace: own.id, app: place.app.id };
    expect(await seen(email)).toEqual([{
      what: 'login by password',
      data: { id, email, verified: false, auth: caller },
    }]);
    const { items } = expectOk(await place.admin.get(`${place.app.path}/hooks/logs`));
    expect(items[0]).toMatchObject({ level: 'error', message: 'Error: after all', file: 'users.js' });
    expectError(
      await as().post(`${auth}/users/login`, { email, password: 'wrong', app: place.app.id }),
      401,
      'bad_credentials',
    );
    expect(await seen(email)).toHaveLength(1);
  });
});
