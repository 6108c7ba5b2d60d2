// The rights of an app on the users of its workspace: it makes one with a new email, and does nothing else.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '../../../storage/boot/boot.ts';
import { enrolUser } from '../../../storage/workspace/enrol-user.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import { findUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeTenant, type Tenant } from '../../harness/tenants.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
let own: OwnInstallation;
let storage: Storage;
let tenant: Tenant;
let app: Connection;

beforeAll(async () => {
  own = await ownInstallation();
  storage = await own.open();
  tenant = await makeTenant(storage);
  app = storage.databases.app(tenant.database, tenant.schema);
});
afterAll(() => own.remove());

function freshUser(): Parameters<typeof enrolUser>[1] {
  const id = randomUUID();
  return { id, email: `${id}@example.com`, password_hash: null, now };
}

async function rowOf(id: string): Promise<UserRow | undefined> {
  return await storage.databases.workspace(tenant.database).run((sql) => findUser(sql, id));
}

describe('db.role-matrix: an app', () => {
  it('makes a user with an email that no user has', async () => {
    const user = { ...freshUser(), password_hash: 'a hash' };
    expect(await app.run((sql) => enrolUser(sql, user))).toBe(user.id);
    expect(await rowOf(user.id)).toEqual({
      id: user.id,
      email: user.email,
      password_hash: 'a hash',
      verified: false,
      totp_enabled: false,
      last_login: null,
      oauth_providers: [],
      created_at: now,
      updated_at: now,
    });
  });

  it('changes nothing of a user who is there, whatever the case of the email', async () => {
    const user = freshUser();
    await app.run((sql) => enrolUser(sql, user));
    const before = await rowOf(user.id);
    for (const email of [user.email, user.email.toUpperCase()]) {
      const again = { ...freshUser(), email, password_hash: 'another' };
      expect(await app.run((sql) => enrolUser(sql, again))).toBe(user.id);
    }
    expect(await rowOf(user.id)).toEqual(before);
  });

  it('cannot make a user of an id that is taken', async () => {
    const user = freshUser();
    await app.run((sql) => enrolUser(sql, user));
    await expect(app.run((sql) => enrolUser(sql, { ...freshUser(), id: user.id })))
      .rejects.toMatchObject({ failure: 'conflict', constraint: 'users_id' });
  });

  it('keeps the user whom it has found from being deleted until it is done', async () => {
    const user = freshUser();
    await app.run((sql) => enrolUser(sql, user));
    const ended: string[] = [];
    let deletion = Promise.resolve();
    await app.transaction(async (sql) => {
      await enrolUser(sql, { ...freshUser(), email: user.email });
      deletion = own.as({ database: tenant.database }, async (other) => {
        await other`delete from workspace.users where id = ${user.id}`;
        ended.push('deletion');
      });
      // The deletion waits for this very transaction.
      for (let waits = false; !waits;) {
        [{ waits = false } = {}] = await sql<{ waits: boolean }[]>`
          select exists (select from pg_locks where not granted and transactionid is not null) as waits`;
      }
      ended.push('transaction');
    });
    await deletion;
    expect(ended).toEqual(['transaction', 'deletion']);
  });

  it.each([
    'update workspace.users set verified = true',
    'update workspace.users_public set verified = true',
    'delete from workspace.users',
    `insert into workspace.users (id, email, created_at, updated_at) values (gen_random_uuid(), 'x', now(), now())`,
    'select * from workspace.users for update',
    'select * from workspace.users_public for update',
  ])('may not %s', async (text) => {
    await expect(app.run((sql) => sql.unsafe(text))).rejects.toMatchObject({ code: '42501' });
  });

  it('is the only one who may', async () => {
    await expect(storage.databases.workspace(tenant.database).run((sql) => enrolUser(sql, freshUser())))
      .rejects.toMatchObject({ code: '42501' });
  });
});
