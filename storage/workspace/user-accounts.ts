// Rows of workspace.users, for the auth and user routes. `sql` has the workspace's role.
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Fragment, Sql } from '../connections/pool.ts';
import { addressForms, uniqueForm } from '../sql/email-address.ts';

/** An end-user as it is stored, without the TOTP secret. */
export interface UserRow {
  id: string;
  /** As it was given, in lower case. */
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

/** Adds a user who has not logged in yet. Throws `StorageError` `conflict` (`users_email`, `users_email_ascii`). */
export async function insertUser(
  sql: Sql,
  { id, email, password_hash, verified, now }:
    & Pick<UserRow, 'id' | 'email' | 'password_hash' | 'verified'>
    & { now: Date },
): Promise<UserRow> {
  const [row] = await sql<UserRow[]>`
    insert into workspace.users (id, email, email_ascii, password_hash, verified, created_at, updated_at)
    values (${id}, ${email}, ${uniqueForm(email)}, ${password_hash}, ${verified}, ${now}, ${now})
    returning ${columns(sql)}`;
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

/**
 * The user with this email in either form, or undefined. Takes no lock, which would be a write, and so takes equally long in both
 * cases. `recordLogin` checks that the row is still the same.
 */
export async function findUserByEmail(sql: Sql, email: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    select ${columns(sql)} from workspace.users where email = any(${addressForms(email)})`;
  return row;
}

/** The id of the user with this email in either form, or undefined. Waits for no lock, and so takes equally long in both cases. */
export async function findUserId(sql: Sql, email: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from workspace.users where email = any(${
    addressForms(email)
  })`;
  return row?.id;
}

/** The user with this id, or undefined. */
export async function findUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from workspace.users where id = ${id}`;
  return row;
}

/** Locks the user against changes until the transaction ends. Waits for a change in progress. */
export async function lockUserShared(sql: Sql, id: string): Promise<void> {
  await sql`select 1 from workspace.users where id = ${id} for share`;
}

/** The user, locked until the transaction ends, or undefined. */
export async function lockUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from workspace.users where id = ${id} for update`;
  return row;
}

/** Users in the order of their creation. `part` is a part of the email, literal and in any case. */
export async function selectUsers(
  sql: Sql,
  part: string | undefined,
  request: PageRequest,
): Promise<Page<UserRow>> {
  const where = part === undefined ? sql`true` : sql`strpos(email, lower(${part})) > 0`;
  const from = sql`workspace.users where ${where}`;
  return await selectPage<UserRow>(sql, request, { columns: columns(sql), from, order: sql`id` });
}

/** Stores the time of a login; undefined when the credentials have changed since the row was read. */
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

/** Sets a user's password. */
export async function setPassword(
  sql: Sql,
  id: string,
  { hash, now }: { hash: string; now: Date },
): Promise<void> {
  await sql`update workspace.users set password_hash = ${hash}, updated_at = ${now} where id = ${id}`;
}

/** Removes the password and second factor that a user had before the owner of the email was verified. */
export async function dropCredentials(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`
    update workspace.users
    set password_hash = null, totp_sealed = null, totp_enabled = false, totp_last_step = null, oauth_providers = '[]',
      verified = true, updated_at = ${now}
    where id = ${id}`;
}

/** Changes a user's address to a verified one. Throws `StorageError` `conflict` (`users_email`, `users_email_ascii`). */
export async function setEmail(
  sql: Sql,
  id: string,
  { email, now }: { email: string; now: Date },
): Promise<void> {
  await sql`
    update workspace.users set email = ${email}, email_ascii = ${
    uniqueForm(email)
  }, verified = true, updated_at = ${now} where id = ${id}`;
}

/** Sets whether the email is verified; undefined when there is no such user. */
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
