// Rows of workspace.users as the auth and user routes read and write them; `sql` has the workspace's role.
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Fragment, Sql } from '../connections/pool.ts';

/** An end-user as it is stored, but for the TOTP secret. */
export interface UserRow {
  id: string;
  /** Lower case. */
  email: string;
  password_hash: string | null;
  verified: boolean;
  totp_enabled: boolean;
  last_login: Date | null;
  /** Names of the linked providers. */
  oauth_providers: string[];
  created_at: Date;
  updated_at: Date;
}

/** Adds a user who has not logged in yet. Throws `StorageError` `conflict` (`users_email`). */
export async function insertUser(
  sql: Sql,
  { id, email, password_hash, verified, now }:
    & Pick<UserRow, 'id' | 'email' | 'password_hash' | 'verified'>
    & { now: Date },
): Promise<UserRow> {
  const [row] = await sql<UserRow[]>`
    insert into workspace.users (id, email, password_hash, verified, created_at, updated_at)
    values (${id}, ${email}, ${password_hash}, ${verified}, ${now}, ${now})
    returning ${columns(sql)}`;
  if (row === undefined) throw new Error('an insert answered no row');
  return row;
}

/**
 * The user with this email, or undefined. Takes no lock, which would be a write, and so takes as long for one as for
 * none; `noteLogin` looks whether the row is still the same.
 */
export async function findUserByEmail(sql: Sql, email: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    select ${columns(sql)} from workspace.users where email = ${email}`;
  return row;
}

/** The id of the user with this email, or undefined. Waits for nobody, and so takes as long for one as for none. */
export async function findUserId(sql: Sql, email: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from workspace.users where email = ${email}`;
  return row?.id;
}

/** The user with this id, or undefined. */
export async function findUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from workspace.users where id = ${id}`;
  return row;
}

/** Waits for a change of the user that is under way, and holds the next one off until the transaction ends. */
export async function lockUserShared(sql: Sql, id: string): Promise<void> {
  await sql`select 1 from workspace.users where id = ${id} for share`;
}

/** The user, locked until the transaction ends, or undefined. */
export async function lockUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from workspace.users where id = ${id} for update`;
  return row;
}

/** Users in the order of their creation; `part` is a part of the email, literally and whatever its case. */
export async function listUsers(
  sql: Sql,
  part: string | undefined,
  request: PageRequest,
): Promise<Page<UserRow>> {
  const where = part === undefined ? sql`true` : sql`strpos(email, lower(${part})) > 0`;
  const from = sql`workspace.users where ${where}`;
  return await selectPage<UserRow>(sql, request, { columns: columns(sql), from, order: sql`id` });
}

/** Remembers a login, unless the credentials that it was made with have changed since the row was read: undefined. */
export async function recordLogin(
  sql: Sql,
  { id, password_hash, totp_enabled }: Pick<UserRow, 'id' | 'password_hash' | 'totp_enabled'>,
  now: Date,
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    update workspace.users set last_login = ${now}
    where id = ${id} and password_hash is not distinct from ${password_hash} and totp_enabled = ${totp_enabled}
    returning ${columns(sql)}`;
  return row;
}

/** Replaces a hash by one of the same password with newer parameters, unless the password was changed meanwhile. */
export async function rehashUser(
  sql: Sql,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`update workspace.users set password_hash = ${to} where id = ${id} and password_hash = ${from}`;
}

/** Gives a user another password. */
export async function setPassword(
  sql: Sql,
  id: string,
  { hash, now }: { hash: string; now: Date },
): Promise<void> {
  await sql`update workspace.users set password_hash = ${hash}, updated_at = ${now} where id = ${id}`;
}

/** Takes password and second factor away from a user whose email is now known to be somebody's own. */
export async function dropCredentials(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`
    update workspace.users
    set password_hash = null, totp_sealed = null, totp_enabled = false, totp_last_step = null, oauth_providers = '[]',
      verified = true, updated_at = ${now}
    where id = ${id}`;
}

/** Gives a user another address, which is known to be theirs. Throws `StorageError` `conflict` (`users_email`). */
export async function setEmail(
  sql: Sql,
  id: string,
  { email, now }: { email: string; now: Date },
): Promise<void> {
  await sql`
    update workspace.users set email = ${email}, verified = true, updated_at = ${now} where id = ${id}`;
}

/** Says whether the email is the user's; undefined when there is no such user. */
export async function setVerified(
  sql: Sql,
  id: string,
  { verified, now }: { verified: boolean; now: Date },
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    update workspace.users set verified = ${verified}, updated_at = ${now} where id = ${id}
    returning ${columns(sql)}`;
  return row;
}

/** Removes a user with its sessions. Throws `StorageError` `restricted` while a record needs it. */
export async function deleteUser(sql: Sql, id: string): Promise<void> {
  await sql`delete from workspace.users where id = ${id}`;
}

function columns(sql: Sql): Fragment {
  return sql`id, email, password_hash, verified, totp_enabled, last_login, oauth_providers, created_at, updated_at`;
}
