// Rows of workspace.oauth_states: sign-ins in progress at a provider.
import type { Sql } from '../connections/pool.ts';

/** A sign-in that was sent to a provider. */
export interface StateRow {
  /** SHA-256 of the state. */
  hash: Buffer;
  provider: string;
  redirect_uri: string;
  code_verifier: string;
  created_at: Date;
  expires_at: Date;
}

/** The members of a state that taking it returns. */
export type TakenState = Pick<StateRow, 'redirect_uri' | 'code_verifier'>;

/** Adds a state, and removes a few that have expired. Throws `StorageError` `missing_reference`. */
export async function insertState(sql: Sql, row: StateRow): Promise<void> {
  await sql`
    insert into workspace.oauth_states (hash, provider, redirect_uri, code_verifier, created_at, expires_at)
    values (${row.hash}, ${row.provider}, ${row.redirect_uri}, ${row.code_verifier}, ${row.created_at},
      ${row.expires_at})`;
  await sql`
    delete from workspace.oauth_states where hash in (
      select hash from workspace.oauth_states where expires_at <= ${row.created_at} order by expires_at limit 20
      for update skip locked)`;
}

/** Uses a state up: of several callbacks at once, exactly one gets it. A given redirect URI must be the state's own. */
export async function takeState(
  sql: Sql,
  { hash, provider, redirectUri, now }: {
    hash: Buffer;
    provider: string;
    redirectUri: string | undefined;
    now: Date;
  },
): Promise<TakenState | undefined> {
  const [row] = await sql<TakenState[]>`
    update workspace.oauth_states set used_at = ${now}
    where hash = ${hash} and provider = ${provider} and used_at is null and expires_at > ${now}
      and redirect_uri = coalesce(${redirectUri ?? null}, redirect_uri)
    returning redirect_uri, code_verifier`;
  return row;
}

/**
 * Locks the state of a sign-in; false when it has ended, as it does with any change of its provider. Such a change
 * waits until the transaction ends.
 */
export async function lockState(sql: Sql, hash: Buffer): Promise<boolean> {
  const [row] = await sql`select 1 from workspace.oauth_states where hash = ${hash} for share`;
  return row !== undefined;
}
