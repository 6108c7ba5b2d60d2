// What is made of a workspace or an app while it is being deleted counts for nothing in a later one of the same id.
import { describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../storage/connections/pool.ts';
import { type ApiResponse, as, type Caller, expectOk, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf, provisionerEndpoint } from '../../harness/database.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';
import { somebodyWaits } from '../../harness/waiting.ts';

/** Deletes something that has to wait for a row which this transaction holds, and meanwhile does other things. */
async function deleteSlowly(
  { pool, hold }: { pool: Pool; hold: (sql: Sql) => Promise<unknown> },
  { by, path }: { by: Caller; path: string },
  meanwhile: () => Promise<void>,
): Promise<void> {
  let deleting: Promise<ApiResponse> | undefined;
  const doneWith = new Error('only held');
  await pool.transaction(async (sql) => {
    await hold(sql);
    deleting = by.delete(path);
    let isOver = false;
    void deleting.finally(() => isOver = true);
    while (!await somebodyWaits(sql)) if (isOver) throw new Error('the deletion did not wait');
    await meanwhile();
    throw doneWith;
  }).catch((error: unknown) => {
    if (error !== doneWith) throw error;
  });
  await pool.end();
  if (deleting !== undefined) expectOk(await deleting);
}

/** The control database of the shared server. */
function controlPool(): Pool {
  return new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
}

describe('a workspace of an id that was used before', () => {
  it('refuses a token that was refreshed while the earlier one was being deleted', async () => {
    const own = await ownWorkspace();
    const user = await ownUser(own);
    const hold = (sql: Sql) =>
      sql`
        insert into control.revocations (kind, key, not_before, expires_at, created_at)
        values ('workspace', ${own.id}, now(), now(), now())`;
    let old = as();
    await deleteSlowly({ pool: controlPool(), hold }, { by: own.master, path: own.path }, async () => {
      const body = { refresh_token: user.refreshToken };
      old = as(expectOk(await as().post(`${own.path}/auth/users/refresh`, body)).access_token);
    });
    expectOk(await own.master.post('/api/workspaces', { id: own.id, name: 'Again' }));
    expectOk(await own.master.post(`${own.path}/apps`, { id: 'shop', name: 'Shop' }));
    expect((await old.get(`${own.path}/apps/shop/files`)).status).toBe(401);
    const newcomer = await ownUser(own);
    expect((await newcomer.get(`${own.path}/apps/shop/files`)).status).toBe(200);
  });
});

describe('an app of an id that was used before', () => {
  it('has no policies, admins, tokens or logins from while the earlier one was being deleted', async () => {
    const own = await ownWorkspace();
    const { path } = await own.app('shop');
    const [user, admin] = [await ownUser(own), await own.login()];
    const hold = (sql: Sql) => sql`select 1 from workspace.apps where id = 'shop' for update`;
    const made: Caller[] = [];
    const refreshTokens: string[] = [];
    const login = async (at: string, { email, password }: { email: string; password: string }) => {
      const body = { email, password, app: 'shop' };
      const session = expectOk(await as().post(`${own.path}/auth/${at}/login`, body));
      made.push(as(session.access_token));
      refreshTokens.push(session.refresh_token);
    };
    await deleteSlowly({ pool: await openDatabaseOf(own.id), hold }, { by: own.admin, path }, async () => {
      expectOk(await own.admin.put(`${path}/policies/shop.discount`, { kind: 'range', min: 0, max: 5 }));
      const newcomer = { email: freshEmail(), password: 'a password of the test' };
      expectOk(await own.master.post(`${own.path}/admins`, { ...newcomer, name: 'New', app_ids: ['shop'] }));
      await login('admin', newcomer);
      await login('admin', admin);
      await login('users', user);
    });
    expectOk(await own.admin.post(`${own.path}/apps`, { id: 'shop', name: 'Again' }));
    expect((await own.admin.get(`${path}/policies/shop.discount`)).status).toBe(404);
    const { items } = expectOk(await own.master.get(`${own.path}/admins`));
    expect(items.flatMap(({ app_ids }: { app_ids: string[] }) => app_ids)).toEqual([]);
    expect(made).toHaveLength(3);
    for (const caller of made) expect((await caller.get(`${path}/files`)).status).toBe(403);
    for (const refresh_token of refreshTokens) {
      expect((await as().post('/_/auth/refresh', { refresh_token })).status).toBe(401);
    }
    await login('users', user);
    await login('admin', admin);
    for (const caller of made.slice(3)) expect((await caller.get(`${path}/files`)).status).toBe(200);
  });
});
