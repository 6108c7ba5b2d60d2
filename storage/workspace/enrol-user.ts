// Enrols a user for a profile: the only write of an app to the workspace's users.
import { StorageError } from '../errors.ts';
import { readUserFields, selectUserFields, usersView } from './identities.ts';
import type { Sql } from '../connections/pool.ts';
import { addressForms, uniqueForm } from '../sql/email-address.ts';
import { selectRows } from '../sql/rows.ts';
import { qualified } from '../app/tables.ts';

/** The user to make, if there is none with the email. */
export interface NewUser {
  id: string;
  /** As it was given, in lower case. */
  email: string;
  password_hash: string | null;
  now: Date;
}

/**
 * Finds the user with an email or makes one, and keeps it from being deleted until the transaction ends. Returns its
 * id, which is the given one for a new user. Runs as an app's role, which may not write to the table but may call the
 * function. So profile and user are one transaction, whatever ends it.
 */
export async function enrolUser(
  sql: Sql,
  { id, email, password_hash, now }: NewUser,
): Promise<string> {
  const [row] = await sql<{ id: string | null }[]>`
    select workspace.enrol_user(${id}, ${email}, ${password_hash}, ${now}, ${uniqueForm(email)}) as id`;
  // Another transaction made the user after the statement's snapshot, and deleted it before the function ran.
  if (row === undefined || row.id === null) throw new StorageError('serialization', 'the user is gone');
  return row.id;
}

/**
 * The fields that a profile would show of the user with an email. The id is undefined when there is none. Runs as an
 * app's role.
 */
export async function previewUser(
  sql: Sql,
  email: string,
): Promise<{ id: string | undefined; fields: Record<string, unknown> }> {
  const text = `select r."id", ${selectUserFields('r')} from ${
    qualified(usersView)
  } as r where r."email" = any($1)`;
  const [user] = await selectRows(sql, { text }, [addressForms(email)]);
  const fields: Record<string, unknown> = {};
  readUserFields(user?.[1] ?? [email, false, null, '[]'], fields);
  return { id: user === undefined ? undefined : String(user[0]), fields };
}
