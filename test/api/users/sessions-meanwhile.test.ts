// Logins that are ended while somebody else changes them, or their user.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pool, Sql } from '../../../storage/connections/pool.ts';
import { lockFamily } from '../../../storage/sessions.ts';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { ownUser } from '../../harness/users.ts';
import { responseMeanwhile } from '../../harness/waiting.ts';

let own: OwnWorkspace;
let pool: Pool;

beforeAll(async () => {
  own = await ownWorkspace();
  pool = await openDatabaseOf(own.id);
});
afterAll(() => pool.end());

const sessions = () => `${own.path}/auth/sessions`;

/** What an exchange of a refresh token, or another login, adds. */
const addSession = (sql: Sql, userId: string) =>
  sql`
    insert into workspace.sessions (id, family, kind, principal_id, token_hash, created_at, expires_at)
    select gen_random_uuid(), family, kind, principal_id, sha256(gen_random_uuid()::text::bytea), created_at, expires_at
    from workspace.sessions where principal_id = ${userId}`;

describe('session.revoke-all', () => {
  it.each([
    {
      what: 'one login ends with the token that is just exchanged',
      hold: (sql: Sql, { login }: { login: string }) => lockFamily(sql, login),
      path: (login: string) => `${sessions()}/${login}`,
    },
    {
      what: 'all logins end with the one that is just made',
      hold: (sql: Sql, { id }: { id: string }) =>
        sql`select from workspace.users where id = ${id} for update`,
      path: sessions,
    },
  ])('$what', async ({ hold, path }) => {
    const user = await ownUser(own);
    const [{ id: login }] = expectOk(await user.get(sessions())).items;
    const response = await responseMeanwhile(
      pool,
      (sql) => hold(sql, { login, id: user.id }),
      () => user.delete(path(login)),
      (sql) => addSession(sql, user.id),
    );
    expectOk(response);
    const found = await pool.run((sql) =>
      sql`select revoked_at is not null as ended from workspace.sessions where principal_id = ${user.id}`
    );
    expect(found).toEqual([{ ended: true }, { ended: true }]);
  });

  it("is nobody's to ask for who is deleted meanwhile", async () => {
    const user = await ownUser(own);
    const response = await responseMeanwhile(
      pool,
      (sql) => sql`delete from workspace.users where id = ${user.id}`,
      () => user.delete(sessions()),
    );
    expectError(response, 401, 'unauthorized');
    const audited = await own.admin.get(`${own.path}/audit?action=session_revoke_all&actor=${user.email}`);
    expect(expectOk(audited).total_items).toBe(0);
  });
});

describe('a login', () => {
  it('began no later than it was used last, whatever the clock was when it began', async () => {
    const user = await ownUser(own);
    await pool.run((sql) =>
      sql`
        update workspace.sessions set created_at = created_at - interval '1 hour' where principal_id = ${user.id}`
    );
    const [login] = expectOk(await user.get(sessions())).items;
    expect(login.created_at).toBe(login.last_used_at);
  });
});
