// Rows of control.sessions (masters) and workspace.sessions (admins and end-users): one for each refresh token.
import type { Fragment, Sql } from './connections/pool.ts';

/** The schema of a table that both databases have; `sql` must be connected to the database that has it. */
export type ServerSchema = 'control' | 'workspace';

/** The kind of principal; `admin` is a workspace or app admin. */
export type SessionKind = 'master' | 'admin' | 'user';

/** A refresh token as it is stored. */
export interface SessionRow {
  /** A v7 UUID; the jti of the access token that was issued with it. */
  id: string;
  /** The id of the first session of the login. */
  family: string;
  kind: SessionKind;
  principal_id: string;
  /** The only app that the tokens are valid for; null for all. */
  app: string | null;
  /** SHA-256. */
  token_hash: Buffer;
  created_at: Date;
  expires_at: Date;
  user_agent: string | null;
  ip: string | null;
}

/** A session as it is found by its token. */
export type FoundSession =
  & Pick<SessionRow, 'id' | 'family' | 'kind' | 'principal_id' | 'app' | 'created_at' | 'expires_at'>
  & {
    /** When its token was exchanged. */
    rotated_at: Date | null;
    revoked_at: Date | null;
  };

/** Adds a session, and removes a few that have expired. */
export async function insertSession(sql: Sql, schema: ServerSchema, row: SessionRow): Promise<void> {
  const add = async () => {
    await sql`
      insert into ${table(sql, schema)} (id, family, kind, principal_id, app, token_hash, created_at,
        expires_at, user_agent, ip)
      values (${row.id}, ${row.family}, ${row.kind}, ${row.principal_id}, ${row.app}, ${row.token_hash},
        ${row.created_at}, ${row.expires_at}, ${row.user_agent}, ${row.ip})`;
  };
  // Sent together: a round trip for each would take twice as long.
  await Promise.all([add(), pruneSessions(sql, schema, row.created_at)]);
}

/** The session with this token or id, valid or not, or undefined. */
export async function findSession(
  sql: Sql,
  schema: ServerSchema,
  by: { tokenHash: Buffer } | { id: string },
): Promise<FoundSession | undefined> {
  const wanted = 'id' in by ? sql`id = ${by.id}` : sql`token_hash = ${by.tokenHash}`;
  const [row] = await sql<FoundSession[]>`
    select id, family, kind, principal_id, app, created_at, expires_at, rotated_at, revoked_at
    from ${table(sql, schema)} where ${wanted}`;
  return row;
}

/**
 * Waits until no other transaction exchanges or ends a token of the login, and blocks those until this one ends. Else a
 * token could be added to a login while it is being ended.
 */
export async function lockFamily(sql: Sql, family: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`session ${family}`}, 0))`;
}

/** Uses a token up: of several exchanges at once, exactly one gets true. */
export async function rotateSession(
  sql: Sql,
  schema: ServerSchema,
  { id, now }: { id: string; now: Date },
): Promise<boolean> {
  const [row] = await sql`
    update ${table(sql, schema)} set rotated_at = ${now}
    where id = ${id} and rotated_at is null and revoked_at is null and expires_at > ${now}
    returning 1`;
  return row !== undefined;
}

/** Ends a login if its token was used before. Returns the sessions that this ended, rotated or not. */
export async function revokeReusedFamily(
  sql: Sql,
  schema: ServerSchema,
  { id, family, now }: { id: string; family: string; now: Date },
): Promise<Pick<SessionRow, 'id' | 'created_at'>[]> {
  return await sql<Pick<SessionRow, 'id' | 'created_at'>[]>`
    update ${table(sql, schema)} set revoked_at = ${now}
    where family = ${family} and revoked_at is null
      and exists (select from ${
    table(sql, schema)
  } used where used.id = ${id} and used.rotated_at is not null)
    returning id, created_at`;
}

/** Ends a login. Returns the sessions that this ended, rotated or not. */
export async function revokeFamily(
  sql: Sql,
  schema: ServerSchema,
  { family, now }: { family: string; now: Date },
): Promise<Pick<SessionRow, 'id' | 'created_at'>[]> {
  return await sql<Pick<SessionRow, 'id' | 'created_at'>[]>`
    update ${table(sql, schema)} set revoked_at = ${now} where family = ${family} and revoked_at is null
    returning id, created_at`;
}

/** Ends all logins of a principal, except the one that the session `spared` belongs to. */
export async function revokeSessions(
  sql: Sql,
  schema: ServerSchema,
  { principalId, spared, now }: { principalId: string; spared: string | undefined; now: Date },
): Promise<void> {
  await sql`
    update ${table(sql, schema)} set revoked_at = ${now}
    where principal_id = ${principalId} and revoked_at is null
      and family is distinct from (select family from ${table(sql, schema)} where id = ${spared ?? null})`;
}

/** Ends all logins to one app of the workspace. */
export async function revokeAppSessions(sql: Sql, app: string, now: Date): Promise<void> {
  await sql`update workspace.sessions set revoked_at = ${now} where app = ${app} and revoked_at is null`;
}

async function pruneSessions(sql: Sql, schema: ServerSchema, now: Date): Promise<void> {
  await sql`
    delete from ${table(sql, schema)} where id in (
      select id from ${table(sql, schema)} where expires_at <= ${now} order by expires_at limit 20
      for update skip locked)`;
}

function table(sql: Sql, schema: ServerSchema): Fragment {
  return schema === 'control' ? sql`control.sessions` : sql`workspace.sessions`;
}
