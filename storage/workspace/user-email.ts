// Emails of end-users, for rules: tokens do not carry them.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** Email of an end-user, in lower case; undefined when there is none with this id. Runs as an app's role. */
export async function findUserEmail(sql: Sql, id: string): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const [user] = await sql<{ email: string }[]>`
    select email from workspace.users_public where id = ${id}`;
  return user?.email;
}

/** Emails of the end-users with these ids, by id as it was given. Runs as an app's role. */
export async function findUserEmails(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const given = ids.filter(isUuid);
  if (given.length === 0) return new Map();
  const users = await sql<{ given: string; email: string }[]>`
    select given, email from unnest(${given}::text[]) given
    join workspace.users_public on id = given::uuid`;
  return new Map(users.map(({ given, email }) => [given, email]));
}
