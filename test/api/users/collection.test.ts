// The built-in collection `users` of every app: the workspace's users, to be read by admins.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  as,
  type Caller,
  expectOk,
  type OwnApp,
  type OwnWorkspace,
  ownWorkspace,
} from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

let workspace: OwnWorkspace;
let app: OwnApp;
let admin: Caller;
let users: string;
let first: OwnUser;
let second: OwnUser;

beforeAll(async () => {
  workspace = await ownWorkspace();
  app = await workspace.app();
  admin = app.admin;
  users = `${app.path}/collections/users/records`;
  first = await ownUser(workspace, `first.${freshEmail()}`);
  second = await ownUser(workspace, `second.${freshEmail()}`);
  await workspace.admin.patch(`${workspace.path}/users/${second.id}/verify`, { verified: true });
});

describe('the users collection', () => {
  it('shows each user as a record, to all admins of the app', async () => {
    const { password_hash: _, ...account } = expectOk(
      await workspace.admin.get(`${workspace.path}/users/${first.id}`),
    );
    const { id, created_at, updated_at, ...fields } = account;
    const shown = { id, collection: 'users', fields, created_at, updated_at };
    for (const caller of [admin, workspace.admin, workspace.master]) {
      expect(expectOk(await caller.get(`${users}/${first.id}`))).toEqual(shown);
      expect(expectOk(await caller.get(users))).toMatchObject({ total_items: 2, items: [shown, {}] });
    }
    const elsewhere = await workspace.app();
    expect(
      expectOk(await elsewhere.admin.get(`${elsewhere.path}/collections/users/records/${first.id}`)),
    ).toEqual(shown);
  });

  it('is filtered, sorted, paged and selected from like any other', async () => {
    const idsOf = async (query: string) =>
      expectOk(await admin.get(`${users}?${query}`)).items.map(({ id }: { id: string }) => id);
    expect(await idsOf('sort=-email')).toEqual([second.id, first.id]);
    expect(await idsOf('filter=verified%3Dtrue')).toEqual([second.id]);
    expect(await idsOf(`filter=${encodeURIComponent(`email = '${first.email}'`)}`)).toEqual([first.id]);
    expect(await idsOf('filter=last_login%3D%40now')).toEqual([]);
    const page = expectOk(await admin.get(`${users}?sort=email&per_page=1&page=2&fields=email`));
    expect(page).toMatchObject({ page: 2, per_page: 1, total_items: 2, total_pages: 2 });
    expect(page.items).toEqual([{ id: second.id, collection: 'users', fields: { email: second.email } }]);
    expectError(await admin.get(`${users}/${randomUUID()}`), 404, 'not_found');
    expectError(await admin.get(`${users}/nobody`), 404, 'not_found');
  });

  it('counts users who come and go', async () => {
    const own = await ownWorkspace();
    const path = `${(await own.app('counted')).path}/collections/users/records?per_page=1`;
    const total = async () => expectOk(await own.admin.get(path)).total_items;
    expect(await total()).toBe(0);
    const [one, two] = [await ownUser(own), await ownUser(own)];
    expect(await total()).toBe(2);
    expectOk(await own.admin.delete(`${own.path}/users/${one.id}`));
    expect(await total()).toBe(1);
    expect(expectOk(await own.admin.get(path)).items[0].id).toBe(two.id);
  });

  it('is nobody else’s to read', async () => {
    const other = await workspace.app();
    for (const path of [users, `${users}/${first.id}`]) {
      expectError(await as().get(path), 401, 'unauthorized');
      expectError(await first.get(path), 403, 'forbidden');
      expectError(await other.admin.get(path), 403, 'forbidden');
    }
  });

  it('tenant.id-swap: knows no user of another workspace', async () => {
    const other = await ownWorkspace();
    const path = `${(await other.app()).path}/collections/users/records`;
    expectError(await other.admin.get(`${path}/${first.id}`), 404, 'not_found');
    expect(expectOk(await other.admin.get(path)).total_items).toBe(0);
    expectError(await other.admin.get(`${users}/${first.id}`), 403, 'forbidden');
  });

  it('cannot be written to', async () => {
    const writes: [string, (caller: Caller) => ReturnType<Caller['post']>][] = [
      ['POST', (caller) => caller.post(users, { email: freshEmail() })],
      ['PATCH', (caller) => caller.patch(`${users}/${first.id}`, { verified: true })],
      ['DELETE', (caller) => caller.delete(`${users}/${first.id}`)],
    ];
    for (const [method, write] of writes) {
      for (const caller of [admin, workspace.master]) {
        const refused = await write(caller);
        expectError(refused, 403, 'forbidden');
        expect(refused.body.message, method).toBe(
          '"users" is built in: users are written by the auth and user routes',
        );
      }
      expectError(await write(as()), 401, 'unauthorized');
      expectError(await write(first), 403, 'forbidden');
    }
    expect(expectOk(await admin.get(`${users}/${first.id}`)).fields.verified).toBe(false);
  });

  it('has no definition, no rules and no events', async () => {
    const path = `${app.path}/collections`;
    expect(expectOk(await admin.get(path)).total_items).toBe(0);
    const rule = { template: 'any' };
    const responses = [
      await admin.get(`${path}/users`),
      await admin.patch(`${path}/users`, { schema: { fields: [] } }),
      await admin.delete(`${path}/users`),
      await admin.get(`${path}/users/access_rules`),
      await admin.put(`${path}/users/access_rules/list`, rule),
      await admin.delete(`${path}/users/access_rules/list`),
      await admin.get(`${path}/users/events`),
    ];
    for (const response of responses) expectError(response, 404, 'not_found');
  });

  it.each(['password_hash', 'password', 'totp_sealed', 'totp_last_step', 'nothing'])(
    'filter.hidden-columns: knows no %s',
    async (name) => {
      const filter = await admin.get(`${users}?filter=${name}%20!%3D%20null`);
      expectError(filter, 400, 'unknown_column');
      expect(filter.body.message).toBe(`filter: unknown column "${name}" (at character 1)`);
      for (const parameter of ['sort', 'fields']) {
        const refused = await admin.get(`${users}?${parameter}=${name}`);
        expectError(refused, 400, 'unknown_column');
        expect(refused.body.message).toBe(`${parameter}: "users" has no field "${name}"`);
      }
    },
  );

  it.each(['oauth_providers', 'has_password', 'totp_enabled'])(
    'filter.hidden-columns: cannot be filtered by how users sign in: %s',
    async (name) =>
      expectError(await admin.get(`${users}?filter=${name}%20!%3D%20null`), 400, 'unknown_column'),
  );
});
