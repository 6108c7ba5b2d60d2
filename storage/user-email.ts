// What rules know of an end-user besides what its token says.
import { isUuid } from './ids.ts';
import type { Sql } from './connections/pool.ts';

/** Email of an end-user, in lower case; undefined when there is none of this id. Runs as an app's role. */
export async function findUserEmail(sql: Sql, id: string): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const [user] = await sql<{ email: string }[]>`
    select email from workspace.users_public where id = ${id}`;
  return user?.email;
}
