// Profiles: records of collections of kind `auth`, each of one of the workspace's users.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { nick, password, profileApp } from '../../harness/profiles.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

const anyone = as();
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const store = await profileApp();
const { workspace, app, admin } = store;

describe('a profile', () => {
  let members: string;

  beforeAll(async () => {
    members = await store.profiles('members', { rules: { create: 'any', get: 'id = @request.auth.id' } });
  });

  it('registers a user of a new email, and has its id', async () => {
    const email = freshEmail();
    const made = await anyone.post(members, { email: email.toUpperCase(), password, nick: 'Ada' });
    expect(made.status).toBe(201);
    const [user] = await store.usersNamed(email);
    expect(made.body).toEqual({
      id: user?.id,
      collection: 'members',
      fields: { email, verified: false, last_login: null, oauth_providers: [], nick: 'Ada' },
      created_at: expect.stringMatching(instant),
      updated_at: expect.stringMatching(instant),
    });
    const self = await store.login(email);
    expect(expectOk(await self.get(`${members}/${made.body.id}`)).fields).toEqual({
      ...made.body.fields,
      last_login: expect.stringMatching(instant),
    });
  });

  it('is written down as a registration in the audit log of the app', async () => {
    const email = freshEmail();
    const { id } = expectOk(await anyone.post(members, { email, password }));
    const logs = async () =>
      expectOk(await admin.get(`${app.path}/audit?action=user_register&per_page=200`)).items.filter(
        ({ target }: { target: string }) => target === email,
      );
    expect(await logs()).toEqual([
      expect.objectContaining({
        actor: email,
        details: expect.objectContaining({ id, collection: 'members' }),
      }),
    ]);
    const second = freshEmail();
    expectOk(await admin.post(members, { email: second }));
    const [entry] = expectOk(await admin.get(`${app.path}/audit?action=user_register`)).items;
    expect(entry.target).toBe(second);
    expect(entry.actor).not.toBe(second);
    expect(entry.actor).toContain('@');
  });

  it('without a password makes a user without one', async () => {
    const email = freshEmail();
    expectOk(await anyone.post(members, { email }));
    expect(await store.usersNamed(email)).toMatchObject([{ has_password: false }]);
    const refused = await anyone.post(`${workspace.path}/auth/users/login`, { email, password });
    expectError(refused, 401, 'bad_credentials');
  });

  it('links to the user who has the email, and refuses a password for them', async () => {
    const user = await ownUser(workspace);
    const refused = await anyone.post(members, { email: user.email, password: 'quite another password' });
    expectError(refused, 400, 'validation');
    expect(refused.body.message).toBe('password: must be left out: there is a user with this email');
    expectError(await admin.get(`${members}/${user.id}`), 404, 'not_found');
    const linked = expectOk(await anyone.post(members, { email: user.email, nick: 'L' }));
    expect(linked).toMatchObject({ id: user.id, fields: { email: user.email, nick: 'L' } });
    expect(linked.fields.last_login).toMatch(instant);
    expectOk(
      await anyone.post(`${workspace.path}/auth/users/login`, {
        email: user.email,
        password: user.password,
      }),
    );
  });

  it('is the only one of its user in the collection, and one of several in the workspace', async () => {
    const email = freshEmail();
    const { id } = expectOk(await anyone.post(members, { email, nick: 'first' }));
    for (const body of [{ email, nick: 'second' }, { email, password, nick: 'third' }]) {
      const again = await anyone.post(members, body);
      expectError(again, 409, 'conflict');
      expect(again.body.message).toBe('email: another record has this value');
    }
    expect(expectOk(await admin.get(`${members}/${id}`)).fields.nick).toBe('first');
    const others = await store.profiles('others', { fields: [], rules: { create: 'any' } });
    expect(expectOk(await anyone.post(others, { email })).id).toBe(id);
    const elsewhere = await workspace.app();
    const path = `${elsewhere.path}/collections`;
    expectOk(await elsewhere.admin.post(path, { schema: { id: 'members', kind: 'auth', fields: [] } }));
    expect(expectOk(await elsewhere.admin.post(`${path}/members/records`, { email })).id).toBe(id);
    expect(await store.usersNamed(email)).toHaveLength(1);
  });

  it('takes no id but that of its user', async () => {
    const user = await ownUser(workspace);
    const email = freshEmail();
    for (const body of [{ id: randomUUID(), email, password }, { id: randomUUID(), email: user.email }]) {
      const refused = await admin.post(members, body);
      expectError(refused, 400, 'validation');
      expect(refused.body.message).toBe('id: must be that of the user, or be left out');
    }
    expect(await store.usersNamed(email)).toEqual([]);
    expect(expectOk(await admin.post(members, { id: user.id, email: user.email })).id).toBe(user.id);
  });

  it('makes no user when it is refused', async () => {
    const strict = await store.profiles('strict', {
      fields: [{ ...nick, unique: true }],
      rules: { create: 'nick = "welcome" || nick = "taken"' },
    });
    expectOk(await admin.post(strict, { email: freshEmail(), nick: 'taken' }));
    const email = freshEmail();
    expectError(await anyone.post(strict, { email, password, nick: 'stranger' }), 401, 'unauthorized');
    expectError(await anyone.post(strict, { email, password, nick: 'taken' }), 409, 'conflict');
    expectError(await anyone.post(strict, { email, password: 'short', nick: 'welcome' }), 400, 'validation');
    expectError(await anyone.post(strict, { email, password, nick: 1 }), 400, 'validation');
    expect(await store.usersNamed(email)).toEqual([]);
    expectOk(await anyone.post(strict, { email, password, nick: 'welcome' }));
  });

  it('user.enumeration: says nothing of users to those whom the rule refuses', async () => {
    const closed = await store.profiles('closed', { rules: { create: 'nick = "welcome"' } });
    const user = await ownUser(workspace);
    const responses = [];
    for (const email of [user.email, freshEmail()]) {
      responses.push(await anyone.post(closed, { email, password, nick: 'stranger' }));
    }
    expect(responses.map(({ status }) => status)).toEqual([401, 401]);
    expect(responses[0]?.body).toEqual(responses[1]?.body);
  });

  it('shows what its user has become', async () => {
    const email = freshEmail();
    const { id } = expectOk(await anyone.post(members, { email, password }));
    expectOk(await workspace.admin.patch(`${workspace.path}/users/${id}/verify`, { verified: true }));
    expect(expectOk(await admin.get(`${members}/${id}`)).fields.verified).toBe(true);
    const changed = expectOk(await admin.patch(`${members}/${id}`, { nick: 'new' }));
    expect(changed.fields).toMatchObject({ email, verified: true, nick: 'new' });
  });

  it('is deleted without its user, and goes with it', async () => {
    const email = freshEmail();
    const { id } = expectOk(await anyone.post(members, { email, password }));
    expect(expectOk(await admin.delete(`${members}/${id}`))).toEqual({ ok: true });
    expectError(await admin.get(`${members}/${id}`), 404, 'not_found');
    await store.login(email);
    expect(expectOk(await anyone.post(members, { email })).id).toBe(id);
    expectOk(await workspace.admin.delete(`${workspace.path}/users/${id}`));
    expectError(await admin.get(`${members}/${id}`), 404, 'not_found');
    expect(expectOk(await anyone.post(members, { email, password })).id).not.toBe(id);
  });

  it('keeps its user while a required relation points to it', async () => {
    const path = `${app.path}/collections`;
    const to = { name: 'member', kind: 'relation', target: 'members', required: true };
    expectOk(await admin.post(path, { schema: { id: 'orders', fields: [to] } }));
    const { id } = expectOk(await anyone.post(members, { email: freshEmail() }));
    const order = expectOk(await admin.post(`${path}/orders/records`, { member: id }));
    expectError(await admin.delete(`${members}/${id}`), 409, 'conflict');
    expectError(await workspace.admin.delete(`${workspace.path}/users/${id}`), 409, 'conflict');
    expectOk(await admin.delete(`${path}/orders/records/${order.id}`));
    expectOk(await workspace.admin.delete(`${workspace.path}/users/${id}`));
  });

  it('is made once, whoever asks at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const email = freshEmail();
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => anyone.post(members, { email })),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
      expect(await store.usersNamed(email)).toHaveLength(1);
    }
  });

  it('is its user’s by its id, for rules', async () => {
    const own = await store.profiles('own', {
      rules: {
        create: 'id = @request.auth.id',
        list: 'email = @request.auth.email',
        get: 'id = @request.auth.id',
        update: 'id = @request.auth.id && verified = false',
      },
    });
    const [ada, bob] = [await ownUser(workspace), await ownUser(workspace)];
    expectError(await ada.post(own, { email: bob.email }), 403, 'forbidden');
    expectOk(await ada.post(own, { email: ada.email }));
    expectOk(await bob.post(own, { email: bob.email }));
    expect(expectOk(await ada.get(own))).toMatchObject({ total_items: 1, items: [{ id: ada.id }] });
    expectError(await ada.get(`${own}/${bob.id}`), 403, 'forbidden');
    expectError(await ada.patch(`${own}/${bob.id}`, { nick: 'x' }), 403, 'forbidden');
    expect(expectOk(await ada.patch(`${own}/${ada.id}`, { nick: 'A' })).fields.nick).toBe('A');
    expectOk(await workspace.admin.patch(`${workspace.path}/users/${ada.id}/verify`, { verified: true }));
    expectError(await ada.patch(`${own}/${ada.id}`, { nick: 'B' }), 403, 'forbidden');
  });
});
