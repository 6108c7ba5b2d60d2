// What rules know of end-users besides what their tokens say.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** Email of an end-user, in lower case; undefined when there is none of this id. Runs as an app's role. */
export async function findUserEmail(sql: Sql, id: string): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const [user] = await sql<{ email: string }[]>`
    select email from workspace.users_public where id = ${id}`;
  return user?.email;
}

/** Emails of those end-users of these ids that there are, by id as it is given. Runs as an app's role. */
export async function findUserEmails(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const asked = ids.filter(isUuid);
  if (asked.length === 0) return new Map();
  const users = await sql<{ asked: string; email: string }[]>`
    select asked, email from unnest(${asked}::text[]) asked
    join workspace.users_public on id = asked::uuid`;
  return new Map(users.map(({ asked, email }) => [asked, email]));
}
