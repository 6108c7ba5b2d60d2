// Rows of workspace.oauth_links: the users of accounts at providers.
import type { Sql } from '../connections/pool.ts';

/** An account at a provider. */
export interface ProviderAccount {
  provider: string;
  /** The userinfo URL that the subject came from. */
  source: string;
  /** The provider's own id of the account. */
  subject: string;
}

/** The id of the user that an account belongs to, or undefined. */
export async function findLinkedUser(
  sql: Sql,
  { provider, source, subject }: ProviderAccount,
): Promise<string | undefined> {
  const [row] = await sql<{ user_id: string }[]>`
    select user_id from workspace.oauth_links
    where provider = ${provider} and source = ${source} and subject = ${subject}`;
  return row?.user_id;
}

/** Serializes sign-ins with the same account until the transaction ends. The first one makes user and link. */
export async function lockAccount(sql: Sql, { provider, source, subject }: ProviderAccount): Promise<void> {
  const name = JSON.stringify(['oauth', provider, source, subject]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** Links an account to a user, and adds its provider to the user's row. */
export async function insertLink(
  sql: Sql,
  { provider, source, subject }: ProviderAccount,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await sql`
    insert into workspace.oauth_links (provider, source, subject, user_id, created_at)
    values (${provider}, ${source}, ${subject}, ${userId}, ${now})`;
  await sql`
    update workspace.users set updated_at = ${now}, oauth_providers = (
      select jsonb_agg(distinct provider order by provider) from workspace.oauth_links where user_id = ${userId})
    where id = ${userId}`;
}

/** Removes all links of a user. The caller changes the user's row. */
export async function dropLinks(sql: Sql, userId: string): Promise<void> {
  await sql`delete from workspace.oauth_links where user_id = ${userId}`;
}
