// Facts about end-users, for rules: tokens do not carry them.
import { isUuid } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';

/** The part of a user that rules may read. */
export interface UserFacts {
  /** In lower case. */
  email: string;
  verified: boolean;
  /** RFC 3339, UTC, milliseconds. */
  created_at: string;
}

/** Facts about the end-users with these ids, by id as it was given. Runs as an app's role. */
export async function findUserFacts(sql: Sql, ids: readonly string[]): Promise<Map<string, UserFacts>> {
  const given = ids.filter(isUuid);
  if (given.length === 0) return new Map();
  const users = await sql<(Omit<UserFacts, 'created_at'> & { given: string; created_at: Date })[]>`
    select given, email, verified, created_at from unnest(${given}::text[]) given
    join workspace.users_public on id = given::uuid`;
  return new Map(users.map(({ given, created_at, ...user }) => [
    given,
    { ...user, created_at: created_at.toISOString() },
  ]));
}
