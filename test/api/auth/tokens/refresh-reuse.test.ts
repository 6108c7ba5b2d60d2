// A refresh token from the cookie that is used again: by a page that was reloaded before it got the response, or by a thief.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { ownUser } from '../../../harness/users.ts';

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
});

/** As a page does, with its cookie and without a body. */
const reload = (token: string): Promise<ApiResponse> =>
  as().post('/_/auth/refresh', undefined, { Cookie: `svc_rt=${token}` });
const send = (token: string): Promise<ApiResponse> => as().post('/_/auth/refresh', { refresh_token: token });

describe('refresh.reload: a token from the cookie', () => {
  it('gives the same successor again, which is good', async () => {
    const { refreshToken } = await ownUser(own);
    const first = expectOk(await reload(refreshToken));
    const second = expectOk(await reload(refreshToken));
    expect(second.refresh_token).toBe(first.refresh_token);
    expectOk(await as(second.access_token).get(`${own.path}/auth/me`));
    expect(expectOk(await reload(second.refresh_token)).refresh_token).not.toBe(second.refresh_token);
  });

  it('gives the newest successor to 50 that come at once, and the login goes on', async () => {
    const { refreshToken } = await ownUser(own);
    const responses = await Promise.all(Array.from({ length: 50 }, () => reload(refreshToken)));
    const tokens = new Set(responses.map((response) => expectOk(response).refresh_token));
    expect(tokens.size).toBe(1);
    const [next = ''] = tokens;
    const newest = expectOk(await send(next)).refresh_token;
    expect(expectOk(await reload(refreshToken)).refresh_token).toBe(newest);
    expectOk(await send(newest));
  });

  it('that was used in a body first gives it as well, and one that comes in a body keeps the strict rule', async () => {
    const { refreshToken } = await ownUser(own);
    const first = expectOk(await send(refreshToken));
    expect(expectOk(await reload(refreshToken)).refresh_token).toBe(first.refresh_token);
    expect((await send(refreshToken)).status).toBe(401);
    expect((await reload(refreshToken)).status).toBe(401);
    expect((await send(first.refresh_token)).status).toBe(401);
  });

  it('gives none after a logout', async () => {
    const { refreshToken } = await ownUser(own);
    const { refresh_token } = expectOk(await reload(refreshToken));
    expectOk(await as().post('/_/auth/logout', { refresh_token }));
    expect((await reload(refreshToken)).status).toBe(401);
  });

  it('counts as used twice when its use is ten seconds ago', async () => {
    const { refreshToken } = await ownUser(own);
    const first = expectOk(await reload(refreshToken));
    const pool = await openDatabaseOf(own.id);
    await pool.run((sql) =>
      sql`update workspace.sessions set rotated_at = rotated_at - interval '10 s' where rotated_at is not null`
    ).finally(() => pool.end());
    expect((await reload(refreshToken)).status).toBe(401);
    expect((await send(first.refresh_token)).status).toBe(401);
  });

  it('counts as used twice at once where policy tokens.refresh_reuse_sec is 0', async () => {
    const strict = await ownWorkspace();
    const user = await ownUser(strict);
    const bound = { kind: 'range', min: 0, max: 0 };
    expectOk(await strict.admin.put(`${strict.path}/policies/tokens.refresh_reuse_sec`, bound));
    const first = expectOk(await reload(user.refreshToken));
    expect((await reload(user.refreshToken)).status).toBe(401);
    expect((await send(first.refresh_token)).status).toBe(401);
  });
});
