// The logins of an end-user, as that user sees them: the valid row of each family in workspace.sessions.
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** A login: all tokens that were exchanged for one another. */
export interface LoginRow {
  family: string;
  app: string | null;
  /** When the newest of its tokens was issued. */
  last_used_at: Date;
  expires_at: Date;
  user_agent: string | null;
  ip: string | null;
}

/** The lifetime of refresh tokens, in seconds, for logins to an app, or null for those to all apps. */
export interface LoginLife {
  app: string | null;
  seconds: number;
}

/** The apps of a user's logins; null for those to all apps. */
export async function listLoginApps(sql: Sql, userId: string): Promise<(string | null)[]> {
  const rows = await sql<{ app: string | null }[]>`
    select distinct app from workspace.sessions
    where kind = 'user' and principal_id = ${userId} and rotated_at is null and revoked_at is null`;
  return rows.map(({ app }) => app);
}

/** Logins that can still be refreshed, oldest first. Each ends at its own time, or sooner if `lives` says so. */
export async function listLogins(
  sql: Sql,
  { userId, lives, now }: { userId: string; lives: readonly LoginLife[]; now: Date },
  request: PageRequest,
): Promise<Page<LoginRow>> {
  return await selectPage<LoginRow>(sql, request, {
    columns: sql`family, app, last_used_at, expires_at, user_agent, ip`,
    from: sql`(
      select family, session.app, created_at as last_used_at, user_agent, ip,
        least(expires_at, created_at + make_interval(secs => life.seconds)) as expires_at
      from workspace.sessions as session
      left join jsonb_to_recordset(${jsonb(sql, lives)}) as life (app text, seconds float8)
        on life.app is not distinct from session.app
      where kind = 'user' and principal_id = ${userId} and rotated_at is null and revoked_at is null
    ) as login where expires_at > ${now}`,
    order: sql`family`,
  });
}

/** True when a login is this user's and has not been ended. */
export async function hasLogin(
  sql: Sql,
  { userId, family }: { userId: string; family: string },
): Promise<boolean> {
  const [row] = await sql`
    select from workspace.sessions
    where family = ${family} and kind = 'user' and principal_id = ${userId} and revoked_at is null limit 1`;
  return row !== undefined;
}
