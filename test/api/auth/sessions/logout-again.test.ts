// A logout that could not be finished and is sent again, and one of a login that is over.
import { expect, it } from 'vitest';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool } from '../../../../storage/connections/pool.ts';
import { type ApiResponse, as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { openDatabaseOf, provisionerEndpoint } from '../../../harness/database.ts';
import { claimsOf } from '../../../harness/tokens.ts';
import { ownUser } from '../../../harness/users.ts';

it('session.revoke-all: a logout that fails ends all of the login the next time', async () => {
  const own = await ownWorkspace();
  const user = await ownUser(own);
  const body = { refresh_token: user.refreshToken };
  const { access_token, refresh_token } = expectOk(await as().post(`${own.path}/auth/users/refresh`, body));
  const logOut = () => as().post('/_/auth/logout', { refresh_token });
  const tokens = [as(user.token), as(access_token)];
  const statuses = () =>
    Promise.all(tokens.map(async (token) => (await token.get(`${own.path}/auth/me`)).status));

  const control = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
  const doneWith = new Error('only held');
  let first: ApiResponse | undefined;
  await control.transaction(async (sql) => {
    // Whoever revokes the same waits for this, and is given up.
    await sql`
      insert into control.revocations (kind, key, not_before, expires_at, created_at)
      values ('jti', ${claimsOf(user.token ?? '').jti}, now(), now(), now())`;
    first = await logOut();
    throw doneWith;
  }).catch((error: unknown) => {
    if (error !== doneWith) throw error;
  });
  await control.end();
  expect(first?.status).toBe(503);
  expectOk(await logOut());
  expect(await statuses()).toEqual([401, 401]);
});

it('session.revoke-all: an access token ends also where nothing but its revocation was lost', async () => {
  const own = await ownWorkspace();
  const user = await ownUser(own);
  const pool = await openDatabaseOf(own.id);
  // As after a restore of the control database from an earlier backup.
  await pool.run((sql) => sql`update workspace.sessions set revoked_at = now()`).finally(() => pool.end());
  expect((await user.get(`${own.path}/auth/me`)).status).toBe(200);
  expectOk(await user.post('/_/auth/logout'));
  expect((await user.get(`${own.path}/auth/me`)).status).toBe(401);
});
