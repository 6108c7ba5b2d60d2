// A hash with the parameters of an earlier release is replaced when its password comes by, and nobody notices.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rehashAdmin } from '../../../../storage/control/admins.ts';
import { lockSubject } from '../../../../storage/lockouts.ts';
import { rehashMaster } from '../../../../storage/control/master-admins.ts';
import { unlimitedPermits } from '../../../../storage/connections/permits.ts';
import { Pool, type Sql } from '../../../../storage/connections/pool.ts';
import { rehashUser } from '../../../../storage/workspace/user-accounts.ts';
import { as, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { enrol } from '../../../harness/authenticator.ts';
import { endpointOf, openDatabaseOf, provisionerEndpoint } from '../../../harness/database.ts';
import { outdatedHash } from '../../../harness/outdated-hash.ts';
import { startServer, type TestServer } from '../../../harness/server.ts';
import { type OwnUser, ownUser } from '../../../harness/users.ts';
import { howManyWait, somebodyWaits } from '../../../harness/waiting.ts';

/** What a login with a password asks for that is another one by now. */
const ofAnother = { from: outdatedHash('the one before'), to: outdatedHash('the one before, again') };
const todays = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
let own: OwnWorkspace;
let pool: Pool;

beforeAll(async () => {
  own = await ownWorkspace();
  pool = await openDatabaseOf(own.id);
});
afterAll(() => pool.end());

const login = (body: { email: string; password: string }) => as().post(`${own.path}/auth/users/login`, body);

async function hashOf(id: string): Promise<string> {
  const [row] = await pool.run((sql) =>
    sql<{ password_hash: string }[]>`select password_hash from workspace.users where id = ${id}`
  );
  return row?.password_hash ?? expect.fail('the user is gone');
}

const setHash = (sql: Sql, id: string, hash: string) =>
  sql`update workspace.users set password_hash = ${hash} where id = ${id}`;

describe('an outdated hash of a user', () => {
  it('is replaced by a login with its password, and by no other', async () => {
    const { id, email, password } = await ownUser(own);
    const hash = outdatedHash(password);
    await pool.run((sql) => setHash(sql, id, hash));
    expect((await login({ email, password: `${password}?` })).status).toBe(401);
    expect(await hashOf(id)).toBe(hash);
    expectOk(await login({ email, password }));
    const replaced = await hashOf(id);
    expect(replaced).toMatch(todays);
    expectOk(await login({ email, password }));
    expect(await hashOf(id)).toBe(replaced);
  });

  it('takes nobody the password that was set while it was being replaced', async () => {
    const { id } = await ownUser(own);
    const set = await hashOf(id);
    await pool.run((sql) => rehashUser(sql, id, ofAnother));
    expect(await hashOf(id)).toBe(set);
  });

  it.each(['tokens', 'a challenge'])(
    'that is being replaced costs no other login its %s',
    async (outcome) => {
      const user = await ownUser(own);
      const { id, email, password } = user;
      if (outcome === 'a challenge') await enrol(user, `${own.path}/auth`);
      const newHash = await hashOf(id);
      await pool.run((sql) => setHash(sql, id, outdatedHash(password)));
      const { answering } = await pool.transaction(async (sql) => {
        await setHash(sql, id, newHash);
        const answering = login({ email, password });
        while (!await somebodyWaits(sql));
        return { answering };
      });
      expect((await answering).status).toBe(outcome === 'tokens' ? 200 : 202);
    },
  );

  const ways = {
    'change of address': (user: OwnUser) =>
      user.post(`${own.path}/auth/email-change/request`, {
        new_email: `new-${user.email}`,
        password: user.password,
      }),
    'change of it': (user: OwnUser) =>
      user.post(`${own.path}/auth/password`, {
        current_password: user.password,
        new_password: 'the next password',
      }),
  };

  it.each(
    [
      [true, 'change of address', 200],
      [false, 'change of address', 401],
      [true, 'change of it', 200],
      [false, 'change of it', 401],
    ] as const,
  )(
    'that is being replaced, by one of the same password (%s), costs nobody a %s',
    async (isSame, way, status) => {
      const user = await ownUser(own);
      const { id, password } = user;
      const newHash = isSame ? await hashOf(id) : outdatedHash('another password');
      await pool.run((sql) => setHash(sql, id, outdatedHash(password)));
      const { answering } = await pool.transaction(async (sql) => {
        await setHash(sql, id, newHash);
        const answering = ways[way](user);
        while (!await somebodyWaits(sql));
        return { answering };
      });
      expect((await answering).status).toBe(status);
    },
  );

  it('lets nobody in by the old password when it is another that replaces it', async () => {
    const { id, email, password } = await ownUser(own);
    await pool.run((sql) => setHash(sql, id, outdatedHash(password)));
    const { answering } = await pool.transaction(async (sql) => {
      await setHash(sql, id, outdatedHash('another password'));
      const answering = login({ email, password });
      while (!await somebodyWaits(sql));
      return { answering };
    });
    expect((await answering).body.code).toBe('bad_credentials');
  });
});

it('an outdated hash of a workspace admin is replaced by a login', async () => {
  const { id, email, password } = await own.login();
  const control = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
  const stored = async () => {
    const [row] = await control.run((sql) =>
      sql<{ password_hash: string }[]>`select password_hash from control.admins where id = ${id}`
    );
    return row?.password_hash;
  };
  await control.run((sql) =>
    sql`update control.admins set password_hash = ${outdatedHash(password)} where id = ${id}`
  );
  for (let round = 0; round < 2; round++) {
    expectOk(await as().post(`${own.path}/auth/admin/login`, { email, password }));
    expect(await stored()).toMatch(todays);
  }
  const set = await stored();
  await control.run((sql) => rehashAdmin(sql, id, ofAnother));
  expect(await stored()).toBe(set);
  await control.end();
});

describe('an outdated hash of the master', () => {
  const password = 'the password of the master';
  let server: TestServer;
  let control: Pool;

  beforeAll(async () => {
    server = await startServer();
    control = new Pool(endpointOf(server.dataDir, 'bulkhead'), {
      cap: 1,
      permits: unlimitedPermits,
      now: Date.now,
    });
    expectOk(await as(undefined, server.url).post('/_/setup', { password }));
  });
  afterAll(async () => {
    await control.end();
    await server.stop();
  });

  const loginMaster = (text: string) =>
    as(undefined, server.url).post('/_/auth/admin/login', { username: 'admin', password: text });
  const setMasterHash = (sql: Sql, hash: string) =>
    sql`update control.master_admins set password_hash = ${hash}`;
  const masterHash = async () => {
    const [row] = await control.run((sql) =>
      sql<{ password_hash: string }[]>`select password_hash from control.master_admins`
    );
    return row?.password_hash ?? expect.fail('there is no master');
  };

  it('is replaced by a login', async () => {
    await control.run((sql) => setMasterHash(sql, outdatedHash(password)));
    for (let round = 0; round < 2; round++) {
      expectOk(await loginMaster(password));
      expect(await masterHash()).toMatch(todays);
    }
    const set = await masterHash();
    const [row] = await control.run((sql) => sql<{ id: string }[]>`select id from control.master_admins`);
    await control.run((sql) => rehashMaster(sql, row?.id ?? '', ofAnother));
    expect(await masterHash()).toBe(set);
  });

  it.each([
    ['costs no other login its tokens', password, 200],
    ['lets nobody in when another password has taken its place', 'another password', 401],
  ])('%s', async (_what, newPassword, status) => {
    const newHash = newPassword === password ? await masterHash() : outdatedHash(newPassword);
    await control.run((sql) => setMasterHash(sql, outdatedHash(password)));
    // There is a failure to forgive, for which the login with the right password has to wait here.
    expect((await loginMaster('a wrong one')).status).toBe(401);
    const { answering } = await control.transaction(async (sql) => {
      await sql`select 1 from control.lockouts for update`;
      const answering = loginMaster(password);
      while (!await somebodyWaits(sql));
      await setMasterHash(sql, newHash);
      return { answering };
    });
    expect((await answering).status).toBe(status);
  });

  it.each([['another password', 401], [password, 200]])(
    'costs no change of it, to %s',
    async (now, status) => {
      const newHash = outdatedHash(now);
      await control.run((sql) => setMasterHash(sql, outdatedHash(password)));
      const master = as(expectOk(await loginMaster(password)).access_token, server.url);
      await control.run((sql) => setMasterHash(sql, outdatedHash(password)));
      const { answering } = await control.transaction(async (sql) => {
        await lockSubject(sql, 'master:admin');
        const change = { current_password: password, new_password: 'the next password' };
        const answering = master.post('/_/auth/admin/password', change);
        while (await howManyWait(sql) === 0);
        await setMasterHash(sql, newHash);
        return { answering };
      });
      expect((await answering).status).toBe(status);
    },
  );
});
