// The logins of one end-user, as that user sees them: rows of workspace.sessions, the live one of each family.
import { type Page, type PageRequest, selectPage } from './page.ts';
import type { Sql } from './connections/pool.ts';

/** A login: all tokens that were exchanged for one another are one. */
export interface LoginRow {
  family: string;
  app: string | null;
  /** When the newest of its tokens was issued. */
  last_used_at: Date;
  expires_at: Date;
  user_agent: string | null;
  ip: string | null;
}

/** Logins that can still be refreshed, oldest first. */
export async function listLogins(
  sql: Sql,
  { userId, now }: { userId: string; now: Date },
  request: PageRequest,
): Promise<Page<LoginRow>> {
  return await selectPage<LoginRow>(sql, request, {
    columns: sql`family, app, created_at as last_used_at, expires_at, user_agent, ip`,
    from: sql`workspace.sessions where kind = 'user' and principal_id = ${userId} and rotated_at is null
      and revoked_at is null and expires_at > ${now}`,
    order: sql`family`,
  });
}

/** Whether a login is this user's and has not been ended. */
export async function hasLogin(
  sql: Sql,
  { userId, family }: { userId: string; family: string },
): Promise<boolean> {
  const [row] = await sql`
    select from workspace.sessions
    where family = ${family} and kind = 'user' and principal_id = ${userId} and revoked_at is null limit 1`;
  return row !== undefined;
}
