// End-users look through their own logins, and end them.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { writtenRevocations } from '../../harness/revoked.ts';
import { type OwnUser, ownUser } from '../../harness/users.ts';
import { claimsOf } from '../../harness/tokens.ts';

let own: OwnWorkspace;
let auth: string;

beforeAll(async () => {
  own = await ownWorkspace();
  auth = `${own.path}/auth`;
});

async function logInAgain({ email, password }: OwnUser): Promise<Caller & { refreshToken: string }> {
  const headers = { 'User-Agent': 'another browser' };
  const session = expectOk(await as().post(`${auth}/users/login`, { email, password }, headers));
  return { ...as(session.access_token), refreshToken: session.refresh_token };
}

const refresh = (token: string) => as().post(`${auth}/users/refresh`, { refresh_token: token });

describe('the sessions of a user', () => {
  it('are listed with agent, address and times, the current one marked, and no secret', async () => {
    const user = await ownUser(own);
    const second = await logInAgain(user);
    const response = await second.get(`${auth}/sessions`);
    const { items, total_items } = expectOk(response);
    expect(total_items).toBe(2);
    expect(items.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
    expect(items[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      app: null,
      user_agent: 'another browser',
      ip: '127.0.0.1',
      created_at: expect.stringMatching(/Z$/),
      last_used_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      current: true,
    });
    expect(response.text).not.toContain('rfsh_');
  });

  it('stay one when they are refreshed, and say when that was', async () => {
    const user = await ownUser(own);
    const [before] = expectOk(await user.get(`${auth}/sessions`)).items;
    const { access_token } = expectOk(await refresh(user.refreshToken));
    const after = expectOk(await as(access_token).get(`${auth}/sessions`)).items;
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ id: before.id, created_at: before.created_at, current: true });
    expect(Date.parse(after[0].last_used_at)).toBeGreaterThan(Date.parse(before.last_used_at));
  });

  it('session.revoke-all: end one by one, each with its access tokens', async () => {
    const user = await ownUser(own);
    const second = await logInAgain(user);
    const [first] = expectOk(await user.get(`${auth}/sessions`)).items;
    expect(expectOk(await second.delete(`${auth}/sessions/${first.id}`))).toEqual({ ok: true });
    expect((await user.get(`${auth}/me`)).status).toBe(401);
    expect((await refresh(user.refreshToken)).status).toBe(401);
    expectOk(await second.get(`${auth}/me`));
    expectOk(await refresh(second.refreshToken));
    expect(await writtenRevocations(claimsOf(user.token).jti)).toEqual(['jti']);
  });

  it('are not listed once they have ended or can no longer be refreshed', async () => {
    const user = await ownUser(own);
    const others = [await logInAgain(user), await logInAgain(user)];
    const idsOf = async () => {
      const { items, total_items } = expectOk(await user.get(`${auth}/sessions`));
      expect(items).toHaveLength(total_items);
      return items.map(({ id }: { id: string }) => id);
    };
    const [first, ended, expired] = await idsOf();
    expectOk(await user.delete(`${auth}/sessions/${ended}`));
    expect(await idsOf()).toEqual([first, expired]);
    const pool = await openDatabaseOf(own.id);
    await pool.run((sql) => sql`update workspace.sessions set expires_at = now() where family = ${expired}`)
      .finally(() => pool.end());
    expect(await idsOf()).toEqual([first]);
    expect((await refresh(others[1]?.refreshToken ?? '')).status).toBe(401);
  });

  it('session.revoke-all: end though they were last used days ago', async () => {
    const user = await ownUser(own);
    const second = await logInAgain(user);
    const [first] = expectOk(await second.get(`${auth}/sessions`)).items;
    const pool = await openDatabaseOf(own.id);
    await pool.run((sql) =>
      sql`update workspace.sessions set created_at = now() - interval '3 days' where family = ${first.id}`
    ).finally(() => pool.end());
    expect(expectOk(await second.get(`${auth}/sessions`)).total_items).toBe(2);
    expectOk(await second.delete(`${auth}/sessions/${first.id}`));
    expect(expectOk(await second.get(`${auth}/sessions`)).total_items).toBe(1);
    expect((await refresh(user.refreshToken)).body.code).toBe('unauthorized');
  });

  it('are not found once they have ended, and nothing is noted again', async () => {
    const user = await ownUser(own);
    const second = await logInAgain(user);
    const [first] = expectOk(await second.get(`${auth}/sessions`)).items;
    expectOk(await second.delete(`${auth}/sessions/${first.id}`));
    expect((await second.delete(`${auth}/sessions/${first.id}`)).body.code).toBe('not_found');
    const audit = await own.admin.get(`${own.path}/audit?action=session_revoke&actor=${user.email}`);
    expect(expectOk(audit).total_items).toBe(1);
  });

  it('end by their id in capitals too, under the one that is listed', async () => {
    const user = await ownUser(own);
    const [session] = expectOk(await user.get(`${auth}/sessions`)).items;
    expectOk(await user.delete(`${auth}/sessions/${session.id.toUpperCase()}`));
    const audit = await own.admin.get(`${own.path}/audit?action=session_revoke&actor=${user.email}`);
    expect(expectOk(audit).items[0].details).toMatchObject({ id: session.id });
  });

  it('session.revoke-all: end all at once', async () => {
    const user = await ownUser(own);
    const second = await logInAgain(user);
    expect(expectOk(await user.delete(`${auth}/sessions`))).toEqual({ ok: true });
    for (const caller of [user, second]) {
      expect((await caller.get(`${auth}/me`)).status).toBe(401);
      expect((await refresh(caller.refreshToken)).status).toBe(401);
    }
    expectOk(await (await logInAgain(user)).get(`${auth}/me`));
  });

  it('are not reached by others', async () => {
    const [user, stranger] = [await ownUser(own), await ownUser(own)];
    const [session] = expectOk(await user.get(`${auth}/sessions`)).items;
    for (const id of [session.id, randomUUID(), 'nonsense']) {
      expect((await stranger.delete(`${auth}/sessions/${id}`)).body.code).toBe('not_found');
    }
    expectOk(await user.get(`${auth}/me`));
    expect((await own.admin.get(`${auth}/sessions`)).body.code).toBe('forbidden');
  });
});
