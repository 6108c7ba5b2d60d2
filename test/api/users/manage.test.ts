// Workspace admins manage end-users: list, get, verify, delete.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { type OwnUser, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let users: string;

beforeAll(async () => {
  own = await ownWorkspace();
  users = `${own.path}/users`;
});

async function emails(query: string): Promise<string[]> {
  const { items } = expectOk(await own.admin.get(`${users}?${query}`));
  return items.map(({ email }: { email: string }) => email);
}

describe('the list', () => {
  const tag = randomUUID().slice(0, 8);
  const added = [`a_b.${tag}@example.com`, `axb.${tag}@example.com`, `p%q.${tag}@example.com`];

  beforeAll(async () => {
    for (const email of added) await ownUser(own, email);
  });

  it('has the users in the order they came, in pages', async () => {
    expect(await emails(`q=${tag}`)).toEqual(added);
    const page = expectOk(await own.admin.get(`${users}?q=${tag}&per_page=2&page=2`));
    expect(page).toMatchObject({ page: 2, per_page: 2, total_items: 3, total_pages: 2 });
    expect(page.items.map(({ email }: { email: string }) => email)).toEqual([added[2]]);
  });

  it.each([
    ['any case', `AXB.${tag}`, [added[1]]],
    ['an underscore as itself', `a_b.${tag}`, [added[0]]],
    ['a percent sign as itself', `p%q.${tag}`, [added[2]]],
    ['a percent sign alone as itself', `%.${tag}`, []],
    ['a backslash and quotes as themselves', `\\' or 1=1 -- ${tag}`, []],
  ])('filter.like-escape: searches for %s', async (_what, part, expected) => {
    expect(await emails(`q=${encodeURIComponent(part)}`)).toEqual(expected);
  });

  it('filter.hidden-columns: looks at nothing but the email', async () => {
    expect(await emails('q=argon2')).toEqual([]);
    const response = await own.admin.get(`${users}?q=${tag}`);
    expect(response.text).not.toMatch(/argon2|password_hash|totp_sealed/);
  });
});

describe('one user', () => {
  it('is shown, and is 404 when there is none', async () => {
    const user = await ownUser(own);
    expect(expectOk(await own.admin.get(`${users}/${user.id}`))).toMatchObject({ email: user.email });
    for (const id of [randomUUID(), 'nonsense']) {
      const missing = await own.admin.get(`${users}/${id}`);
      expect(missing.body).toEqual({ code: 'not_found', message: `user "${id}" does not exist` });
    }
  });

  it('is not seen from another workspace', async () => {
    const user = await ownUser(own);
    const other = await ownWorkspace();
    expect((await other.admin.get(`${other.path}/users/${user.id}`)).status).toBe(404);
  });

  it('is verified and unverified by an admin, and that is audited', async () => {
    const user = await ownUser(own);
    for (const verified of [true, false]) {
      const response = await own.admin.patch(`${users}/${user.id}/verify`, { verified });
      expect(expectOk(response).verified).toBe(verified);
    }
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=user_verify`));
    expect(items[0]).toMatchObject({ target: user.email, details: { id: user.id, verified: false } });
    const missing = await own.admin.patch(`${users}/${randomUUID()}/verify`, { verified: true });
    expect(missing.body.code).toBe('not_found');
  });
});

describe('a user who is removed', () => {
  let user: OwnUser;

  beforeAll(async () => {
    user = await ownUser(own);
    expectOk(await user.get(`${own.path}/auth/me`));
    expectOk(await own.admin.delete(`${users}/${user.id}`));
  });

  it('session.revoke-all: has no access token, no refresh token and no login left', async () => {
    const me = await user.get(`${own.path}/auth/me`);
    expect(me.body).toEqual({ code: 'unauthorized', message: 'the access token has been revoked' });
    const refreshed = await as().post(`${own.path}/auth/users/refresh`, { refresh_token: user.refreshToken });
    expect(refreshed.body.code).toBe('unauthorized');
    const { email, password } = user;
    expect((await as().post(`${own.path}/auth/users/login`, { email, password })).status).toBe(401);
  });

  it('is gone, and its removal audited', async () => {
    expect((await own.admin.get(`${users}/${user.id}`)).status).toBe(404);
    expect((await own.admin.delete(`${users}/${user.id}`)).status).toBe(404);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=user_delete`));
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ target: user.email, details: { id: user.id } });
  });

  it('may register again, as another user', async () => {
    const again = await ownUser(own, user.email);
    expect(again.id).not.toBe(user.id);
    expectOk(await again.get(`${own.path}/auth/me`));
  });
});
