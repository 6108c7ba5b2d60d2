// What nobody may write to the user of a profile, and what no response may say of it.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { openEvents } from '../realtime/event-client.ts';
import {
  type ApiResponse,
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  serverUrl,
} from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { measured } from '../../harness/measured.ts';
import { nick, password, type ProfileApp, profileApp } from '../../harness/profiles.ts';
import { freshEmail } from '../../harness/users.ts';

const anyone = as();
const instant = '2020-01-02T03:04:05.678Z';
let store: ProfileApp;
let workspace: OwnWorkspace;
let app: OwnApp;
let admin: Caller;
let members: string;

beforeAll(async () => {
  store = await profileApp();
  ({ workspace, app, admin } = store);
  const rules = { list: 'any', get: 'any', create: 'any', update: 'id = @request.auth.id' };
  members = await store.profiles('members', { fields: [nick, { name: 'level', kind: 'number' }], rules });
});

/** A user with a profile. */
async function member(): Promise<{ id: string; email: string; self: Caller }> {
  const email = freshEmail();
  const { id } = expectOk(await anyone.post(members, { email, password, nick: 'x' }));
  return { id, email, self: await store.login(email) };
}

async function userOf(id: string): Promise<ApiResponse['body']> {
  return expectOk(await workspace.admin.get(`${workspace.path}/users/${id}`));
}

const forged: [string, unknown, string][] = [
  ['verified', true, 'is read-only'],
  ['last_login', instant, 'is read-only'],
  ['oauth_providers', ['google'], 'is read-only'],
  ['password_hash', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA', 'unknown field'],
  ['role', 'master_admin', 'unknown field'],
  ['has_password', true, 'unknown field'],
  ['totp_enabled', false, 'unknown field'],
  ['created_at', instant, 'unknown field'],
  ['updated_at', instant, 'unknown field'],
  ['collection', 'users', 'unknown field'],
];

describe('mass.assignment', () => {
  it.each(forged)('mass.assignment: %s cannot be set through a profile', async (name, value, reason) => {
    const { id, self } = await member();
    const before = await userOf(id);
    const record = expectOk(await self.get(`${members}/${id}`));
    for (const caller of [self, admin]) {
      const email = freshEmail();
      const created = await caller.post(members, { email, password, [name]: value });
      expectError(created, 400, 'validation');
      expect(created.body.message).toBe(`${name}: ${reason}`);
      expect(await store.usersNamed(email)).toEqual([]);
      const changed = await caller.patch(`${members}/${id}`, { nick: 'y', [name]: value });
      expectError(changed, 400, 'validation');
      expect(changed.body.message).toBe(`${name}: ${reason}`);
    }
    expect(await userOf(id)).toEqual(before);
    expect(expectOk(await self.get(`${members}/${id}`))).toEqual(record);
  });

  it.each(forged)('mass.assignment: %s cannot be set by registering', async (name, value) => {
    const email = freshEmail();
    const path = `${workspace.path}/auth/users/register`;
    expectError(await anyone.post(path, { email, password, [name]: value }), 400, 'validation');
    expect(await store.usersNamed(email)).toEqual([]);
  });

  it('mass.assignment: email and password of the user are not changed through the profile', async () => {
    const { id, email, self } = await member();
    for (const caller of [self, admin]) {
      for (
        const [name, value] of [['email', freshEmail()], ['email', email], ['password', 'another password']]
      ) {
        const refused = await caller.patch(`${members}/${id}`, { [String(name)]: value });
        expectError(refused, 400, 'validation');
        expect(refused.body.message).toMatch(/^(email|password): cannot be changed here; .* with auth\//);
      }
    }
    expect((await userOf(id)).email).toBe(email);
    await store.login(email);
  });
});

describe('record.strict-types', () => {
  it.each<[string, unknown, string]>([
    ['email', undefined, 'email: is required'],
    ['email', null, 'email: is required'],
    ['email', 5, 'email: must be a string'],
    ['email', ['ada@example.com'], 'email: must be a string'],
    ['email', { $ne: '' }, 'email: must be a string'],
    ['email', 'no address', 'email: must be an email address'],
    ['email', ' padded@example.com', 'email: must be an email address'],
    ['password', null, 'password: must be a string of 1 to 4096 characters'],
    ['password', '', 'password: must be a string of 1 to 4096 characters'],
    ['password', 12345678, 'password: must be a string of 1 to 4096 characters'],
    ['password', [password], 'password: must be a string of 1 to 4096 characters'],
    ['password', { toString: password }, 'password: must be a string of 1 to 4096 characters'],
    ['password', 'short', 'password: must have at least 8 characters'],
  ])('record.strict-types: %s of a profile cannot be %j', async (name, value, message) => {
    const refused = await anyone.post(members, { email: freshEmail(), password, [name]: value });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe(message);
  });

  it('record.strict-types: a password of a profile cannot have 4,097 characters', async () => {
    const refused = await anyone.post(members, { email: freshEmail(), password: 'x'.repeat(4_097) });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe('password: must be a string of 1 to 4096 characters');
  });

  it('record.strict-types: everything that is wrong with a profile is said at once', async () => {
    const refused = await anyone.post(members, {
      email: 1,
      password: 2,
      nick: 3,
      verified: 4,
      other: 5,
      id: 6,
    });
    expectError(refused, 400, 'validation');
    expect(refused.body.message.split('; ').sort()).toEqual([
      'email: must be a string',
      'id: must be a UUID',
      'nick: must be a string',
      'other: unknown field',
      'password: must be a string of 1 to 4096 characters',
      'verified: is read-only',
    ]);
  });
});

describe('auth-collection.enumeration', () => {
  it.each<[string, string[], string, number]>([
    ['good', ['password'], password, 401],
    ['weak', ['password'], 'short', 400],
    ['idle', ['otp'], password, 403],
  ])(
    'whom the rule refuses is not told by a password that is %s who is registered',
    async (kind, allowed, sent, status) => {
      const guarded = await store.profiles(kind, { rules: { create: 'nick = "right"' } });
      const { email: known } = await member();
      expectOk(await admin.put(`${app.path}/policies/auth.methods`, { kind: 'enum_set', allowed }));
      const attempt = async (email: string) => {
        const { status, body } = await anyone.post(guarded, { email, password: sent, nick: 'wrong' });
        return [status, body.code, body.message];
      };
      const responses = [await attempt(known), await attempt(freshEmail())];
      expectOk(await admin.delete(`${app.path}/policies/auth.methods`));
      expect(responses[0]).toEqual(responses[1]);
      expect(responses[0]?.[0]).toBe(status);
    },
  );

  const asLong =
    'whom the rule refuses has passwords hashed as long for somebody who is registered as for nobody';
  it(asLong, measured, async () => {
    const guarded = await store.profiles(`slow_${randomUUID().slice(0, 8)}`, {
      rules: { create: 'nick = "right"' },
    });
    const { email: known } = await member();
    const time = async (email: string) => {
      const start = performance.now();
      await anyone.post(guarded, { email, password, nick: 'wrong' });
      return performance.now() - start;
    };
    const ratios: number[] = [];
    // In turns, so that whatever else the machine does slows both.
    for (let round = 0; round < 9; round++) ratios.push(await time(known) / await time(freshEmail()));
    expect(ratios.sort((a, b) => a - b)[4]).toBeGreaterThan(0.4);
  });
});

describe('auth-collection.output', () => {
  it('auth-collection.output: whom the rule refuses learns nothing of who is registered', async () => {
    const invited = await store.profiles('invited', {
      fields: [nick],
      rules: { create: '@request.body.nick = "invited"' },
    });
    const { email } = await member();
    for (const known of [email, freshEmail()]) {
      const body = { email: known, password: 'short', nick: 'x' };
      expectError(await anyone.post(invited, body), 401, 'unauthorized');
    }
  });

  it('auth-collection.output: no response, event or log entry holds a hash or a password', async () => {
    const port = Number(new URL(serverUrl()).port);
    const client = await openEvents(port, { path: `${app.path}/collections/members/events` });
    const { id, email, self } = await member();
    const said = [
      await self.patch(`${members}/${id}`, { nick: 'changed' }),
      await self.get(`${members}/${id}`),
      await admin.get(`${members}/${id}?expand=`),
      await anyone.get(members),
      await admin.get(`${members}?filter=${encodeURIComponent(`email = '${email}'`)}`),
      await anyone.post(members, { email, password }),
      await anyone.post(members, { email: freshEmail(), password, nick: 7 }),
      await admin.post(members, { email: freshEmail(), password }),
      await admin.post(`${app.path}/batch`, {
        requests: [{ method: 'POST', collection: 'members', body: { email: freshEmail(), password } }],
      }),
      await admin.get(`${app.path}/collections/users/records/${id}`),
      await admin.get(`${app.path}/collections/users/records`),
      await admin.delete(`${members}/${id}`),
      await admin.get(`${app.path}/audit?per_page=200`),
      await workspace.admin.get(`${workspace.path}/audit?per_page=200`),
    ].map(({ text }) => text);
    const events = await client.count(5);
    client.socket.destroy();
    expect(events.map(({ event }) => event)).toEqual([
      'record_created',
      'record_updated',
      'record_created',
      'record_created',
      'record_deleted',
    ]);
    expect(events[0]?.data).toMatchObject({ id, fields: { email, verified: false, nick: 'x' } });
    for (const text of [...said, client.body]) {
      expect(text).not.toMatch(/argon2|password_hash|totp_sealed/);
      expect(text).not.toContain(password);
    }
  });
});
