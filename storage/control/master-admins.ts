// Rows of control.master_admins.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** A master admin as it is stored; `password_hash` is null until setup. */
export interface MasterAdminRow {
  id: string;
  username: string;
  password_hash: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Adds the master admin `admin`, without a password until setup. Does nothing when there is one. */
export async function ensureMasterAdmin(sql: Sql, { id, now }: { id: string; now: Date }): Promise<void> {
  await sql`
    insert into control.master_admins (id, username, created_at, updated_at) values (${id}, 'admin', ${now}, ${now})
    on conflict on constraint master_admins_username do nothing`;
}

/**
 * The master admin with this username, or undefined. Waits for a change that is in progress. So an old row was read
 * before the change takes the instant up to which it revokes.
 */
export async function findMasterByUsername(sql: Sql, username: string): Promise<MasterAdminRow | undefined> {
  const [row] = await sql<MasterAdminRow[]>`
    select id, username, password_hash, created_at, updated_at from control.master_admins
    where username = ${username} for share`;
  return row;
}

/** The master admin with this id, or undefined. Waits for a change that is in progress. */
export async function findMaster(sql: Sql, id: string): Promise<MasterAdminRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await sql<MasterAdminRow[]>`
    select id, username, password_hash, created_at, updated_at from control.master_admins
    where id = ${id} for share`;
  return row;
}

/** Sets a master admin's password. */
export async function setMasterPassword(
  sql: Sql,
  id: string,
  { passwordHash, now }: { passwordHash: string; now: Date },
): Promise<void> {
  await sql`
    update control.master_admins set password_hash = ${passwordHash}, updated_at = ${now} where id = ${id}`;
}

/** Replaces a password; false when it is no longer the one that was checked. */
export async function replaceMasterPassword(
  sql: Sql,
  id: string,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<boolean> {
  const [row] = await sql`
    update control.master_admins set password_hash = ${to}, updated_at = ${now}
    where id = ${id} and password_hash = ${from} returning 1`;
  return row !== undefined;
}

/** Replaces a hash by one of the same password with newer parameters, unless the password was changed meanwhile. */
export async function rehashMaster(
  sql: Sql,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`
    update control.master_admins set password_hash = ${to} where id = ${id} and password_hash = ${from}`;
}
