// Users delete their own account, where the workspace lets them.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  as,
  type Caller,
  expectOk,
  type OwnWorkspace,
  ownWorkspace,
  send,
  serverUrl,
} from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { secretFor } from '../../harness/mailbox.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { cookiesOf } from '../../harness/tokens.ts';
import { freshEmail, type OwnUser, ownUser } from '../../harness/users.ts';

let place: Scenario;
let own: OwnWorkspace;
let auth: string;

const vetoed = 'stays';

beforeAll(async () => {
  place = await scenario({
    collections: {
      notes: [
        { name: 'title', kind: 'text' },
        { name: 'owner', kind: 'relation', target: 'users', cascade_delete: true },
      ],
    },
    hooks: {
      'notes.js': `onRecordBeforeDelete('notes', (e) => {
        if (e.record.fields.title === '${vetoed}') throw new Error('asked by ' + e.auth.email);
      });`,
    },
  });
  own = place.workspace;
  auth = `${own.path}/auth`;
  expectOk(await allow(own, true));
});

const allow = ({ admin, path }: OwnWorkspace, value: boolean) =>
  admin.put(`${path}/policies/auth.self_delete`, { kind: 'toggle', state: 'locked', value });

const leave = ({ token }: Pick<Caller, 'token'>, body?: object) =>
  send(`${serverUrl()}${auth}/me`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body }),
  });

/** As if the login of a user had begun years ago. */
async function age({ id }: OwnUser): Promise<void> {
  await place.inDatabase((sql) =>
    sql`
      update workspace.sessions set family = overlay(family::text placing '01900000-0000' from 1 for 13)::uuid
      where principal_id = ${id}`
  );
}

describe('a user who deletes the own account', () => {
  it('is gone at once, with tokens, cookies and records, and may register again', async () => {
    const user = await ownUser(own);
    const note = await place.make(place.records('notes'), { title: 'goes', owner: user.id });
    const left = await leave(user, { password: user.password });
    expect(expectOk(left)).toEqual({ ok: true });
    expect(cookiesOf(left).every((cookie) => cookie.includes('Max-Age=0'))).toBe(true);
    expect(cookiesOf(left)).toHaveLength(2);
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    expect((await leave(user, { password: user.password })).status).toBe(401);
    expect((await own.admin.get(`${own.path}/users/${user.id}`)).status).toBe(404);
    expect((await place.admin.get(`${place.records('notes')}/${note}`)).status).toBe(404);
    const { items } = expectOk(await own.admin.get(`${own.path}/audit?action=user_delete`));
    expect(items[0]).toMatchObject({ actor: user.email, target: user.email, details: { id: user.id } });
    expect((await ownUser(own, user.email)).id).not.toBe(user.id);
  });

  it('needs the policy of the workspace: that of an app does not count', async () => {
    const other = await ownWorkspace();
    const user = await ownUser(other);
    const app = await other.app();
    const { email, password } = user;
    const policy = { kind: 'toggle', state: 'locked', value: true };
    expectOk(await app.admin.put(`${app.path}/policies/auth.self_delete`, policy));
    const bound = expectOk(
      await as().post(`${other.path}/auth/users/login`, { email, password, app: app.id }),
    );
    for (const token of [user.token, bound.access_token]) {
      expectError(await as(token).delete(`${other.path}/auth/me`), 403, 'forbidden');
    }
    expectOk(await user.get(`${other.path}/auth/me`));
  });

  it('gives the password once the sign-in is long ago, and wrong ones count', async () => {
    const user = await ownUser(own);
    await age(user);
    const late = await leave(user);
    expectError(late, 403, 'forbidden');
    expect(late.body.message).toContain('sign in again');
    for (let count = 0; count < 5; count++) {
      expectError(await leave(user, { password: 'not the password' }), 401, 'bad_credentials');
    }
    expectError(await leave(user, { password: user.password }), 429, 'too_many_requests');
    expectOk(await user.get(`${auth}/me`));
  });

  it('without a password signs in again, also when tokens were exchanged since', async () => {
    const email = freshEmail();
    expectOk(await as().post(`${auth}/otp/request`, { email }));
    const code = await secretFor(email);
    const { refresh_token } = expectOk(await as().post(`${auth}/otp/login`, { email, code }));
    const { access_token } = expectOk(await as().post(`${auth}/users/refresh`, { refresh_token }));
    expectError(await leave(as(access_token), { password: 'there is none' }), 401, 'bad_credentials');
    expectOk(await leave(as(access_token)));
    expect((await as(access_token).get(`${auth}/me`)).status).toBe(401);
  });

  it('is held by a hook of an app, which hears who asks', async () => {
    const user = await ownUser(own);
    await place.make(place.records('notes'), { title: vetoed, owner: user.id });
    const refused = await leave(user);
    expectError(refused, 400, 'hook_veto');
    expect(refused.body.message).toBe(`asked by ${user.email}`);
    expectOk(await user.get(`${auth}/me`));
  });

  it('of several at once leaves once, and admins have accounts of another kind', async () => {
    const user = await ownUser(own);
    const responses = await Promise.all(Array.from({ length: 4 }, () => leave(user)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of responses) expect([200, 401, 403, 404]).toContain(status);
    expectError(await own.admin.delete(`${auth}/me`), 403, 'forbidden');
    expect((await as().delete(`${auth}/me`)).status).toBe(401);
  });
});
