// Rows of control.admins: workspace and app admins.
import { addressForms, uniqueForm } from '../sql/email-address.ts';
import { isUuid } from '../sql/ids.ts';
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Fragment, Sql } from '../connections/pool.ts';

/** Stored, so that an app admin whose last app was deleted has access to nothing, not to everything. */
export type AdminRole = 'workspace_admin' | 'app_admin';

/** An admin as it is stored. */
export interface AdminRow {
  id: string;
  workspace: string;
  /** As it was given, in lower case. */
  email: string;
  name: string;
  password_hash: string;
  role: AdminRole;
  app_ids: string[];
  /** Sessions begun at or before this instant are invalid. */
  credentials_changed_at: Date;
  created_at: Date;
  updated_at: Date;
}

/** The changes to an admin. A missing member stays as it is. */
export interface AdminChanges {
  email?: string | undefined;
  name?: string | undefined;
  password_hash?: string | undefined;
  role?: AdminRole | undefined;
  app_ids?: readonly string[] | undefined;
  credentials_changed_at?: Date | undefined;
}

/** Email of an admin; undefined when there is none of this id, as for a master admin. */
export async function findAdminEmail(sql: Sql, id: string): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const [admin] = await sql<{ email: string }[]>`select email from control.admins where id = ${id}`;
  return admin?.email;
}

/** Adds an admin. Throws `StorageError` `conflict` (`admins_workspace_email`, `admins_workspace_email_ascii`, `admins_pkey`). */
export async function insertAdmin(sql: Sql, admin: AdminRow): Promise<void> {
  await sql`
    insert into control.admins (id, workspace, email, email_ascii, name, password_hash, role, app_ids, credentials_changed_at,
      created_at, updated_at)
    values (${admin.id}, ${admin.workspace}, ${admin.email}, ${
    uniqueForm(admin.email)
  }, ${admin.name}, ${admin.password_hash}, ${admin.role},
      ${admin.app_ids}, ${admin.credentials_changed_at}, ${admin.created_at}, ${admin.updated_at})`;
}

/**
 * The admin with this email in either form, or undefined. Waits for a change that is in progress. So an old row was read before the
 * change takes the instant up to which it revokes.
 */
export async function findAdminByEmail(
  sql: Sql,
  workspace: string,
  email: string,
): Promise<AdminRow | undefined> {
  const [row] = await sql<AdminRow[]>`
    select ${columns(sql)} from control.admins where workspace = ${workspace} and email = any(${
    addressForms(email)
  })
    for share`;
  return row;
}

/** The admin with this id, or undefined. Waits for a change that is in progress. */
export async function findAdmin(sql: Sql, workspace: string, id: string): Promise<AdminRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await sql<AdminRow[]>`
    select ${columns(sql)} from control.admins where workspace = ${workspace} and id = ${id} for share`;
  return row;
}

/** The admins of a workspace in the order of their creation. */
export async function selectAdmins(
  sql: Sql,
  workspace: string,
  request: PageRequest,
): Promise<Page<AdminRow>> {
  const from = sql`control.admins where workspace = ${workspace}`;
  return await selectPage<AdminRow>(sql, request, { columns: columns(sql), from, order: sql`id` });
}

/** The admin, locked until the transaction ends, or undefined. */
export async function lockAdmin(sql: Sql, workspace: string, id: string): Promise<AdminRow | undefined> {
  const [row] = await sql<AdminRow[]>`
    select ${columns(sql)} from control.admins where workspace = ${workspace} and id = ${id} for update`;
  return row;
}

/** Changes an existing admin and returns it. Throws `StorageError` `conflict` (`admins_workspace_email`, `admins_workspace_email_ascii`). */
export async function updateAdmin(
  sql: Sql,
  admin: AdminRow,
  { changes, now }: { changes: AdminChanges; now: Date },
): Promise<AdminRow> {
  const next: AdminRow = {
    ...admin,
    email: changes.email ?? admin.email,
    name: changes.name ?? admin.name,
    password_hash: changes.password_hash ?? admin.password_hash,
    role: changes.role ?? admin.role,
    app_ids: [...changes.app_ids ?? admin.app_ids],
    credentials_changed_at: changes.credentials_changed_at ?? admin.credentials_changed_at,
    updated_at: now,
  };
  await sql`
    update control.admins set email = ${next.email}, email_ascii = ${
    uniqueForm(next.email)
  }, name = ${next.name}, password_hash = ${next.password_hash},
      role = ${next.role}, app_ids = ${next.app_ids}, credentials_changed_at = ${next.credentials_changed_at},
      updated_at = ${now}
    where id = ${admin.id}`;
  return next;
}

/** Replaces a hash by one of the same password with newer parameters, unless the password was changed meanwhile. */
export async function rehashAdmin(
  sql: Sql,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`update control.admins set password_hash = ${to} where id = ${id} and password_hash = ${from}`;
}

/** Removes an admin and returns it; undefined when there is none. */
export async function deleteAdmin(sql: Sql, workspace: string, id: string): Promise<AdminRow | undefined> {
  const [row] = await sql<AdminRow[]>`
    delete from control.admins where workspace = ${workspace} and id = ${id} returning ${columns(sql)}`;
  return row;
}

/** Removes an app from every admin's list before it is deleted. Roles stay, so no admin gains access by it. */
export async function removeAppFromAdmins(sql: Sql, workspace: string, app: string): Promise<void> {
  await sql`
    update control.admins set app_ids = array_remove(app_ids, ${app})
    where workspace = ${workspace} and ${app} = any(app_ids)`;
}

function columns(sql: Sql): Fragment {
  return sql`id, workspace, email, name, password_hash, role, app_ids, credentials_changed_at, created_at, updated_at`;
}
