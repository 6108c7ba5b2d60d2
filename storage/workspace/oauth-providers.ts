// Rows of workspace.oauth_providers: where end-users may sign in.
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Fragment, Sql } from '../connections/pool.ts';

/** How the client sends its secret to the token endpoint: OpenID Connect Core section 9. */
export type TokenAuthMethod = 'client_secret_post' | 'client_secret_basic';

/** A provider as it is stored. */
export interface ProviderRow {
  /** The name in URLs. */
  provider: string;
  client_id: string;
  client_secret_sealed: Buffer | null;
  auth_url: string;
  token_url: string;
  userinfo_url: string;
  /** The issuer of its ID tokens; null when they are not read. */
  issuer: string | null;
  scopes: string[];
  token_auth_method: TokenAuthMethod;
  /** Null when none were listed. */
  redirect_uris: string[] | null;
}

/** The provider with this name, or undefined. */
export async function findProvider(sql: Sql, provider: string): Promise<ProviderRow | undefined> {
  const [row] = await sql<ProviderRow[]>`
    select ${columns(sql)} from workspace.oauth_providers where provider = ${provider}`;
  return row;
}

/** Providers in the order of their names. */
export async function selectProviders(sql: Sql, request: PageRequest): Promise<Page<ProviderRow>> {
  const from = sql`workspace.oauth_providers`;
  return await selectPage<ProviderRow>(sql, request, { columns: columns(sql), from, order: sql`provider` });
}

/**
 * Adds a provider, or replaces everything of it. A null secret leaves the stored one. Ends the sign-ins in progress
 * there.
 */
export async function putProvider(sql: Sql, row: ProviderRow, now: Date): Promise<ProviderRow> {
  const { provider, client_id, client_secret_sealed, auth_url, token_url, userinfo_url } = row;
  const [stored] = await sql<ProviderRow[]>`
    insert into workspace.oauth_providers as old (provider, client_id, client_secret_sealed, auth_url, token_url,
      userinfo_url, issuer, scopes, token_auth_method, redirect_uris, created_at, updated_at)
    values (${provider}, ${client_id}, ${client_secret_sealed}, ${auth_url}, ${token_url}, ${userinfo_url},
      ${row.issuer}, ${row.scopes}, ${row.token_auth_method}, ${row.redirect_uris}, ${now}, ${now})
    on conflict (provider) do update set client_id = excluded.client_id,
      client_secret_sealed = coalesce(excluded.client_secret_sealed, old.client_secret_sealed),
      auth_url = excluded.auth_url, token_url = excluded.token_url, userinfo_url = excluded.userinfo_url,
      issuer = excluded.issuer, scopes = excluded.scopes, token_auth_method = excluded.token_auth_method,
      redirect_uris = excluded.redirect_uris, updated_at = excluded.updated_at
    returning ${columns(sql)}`;
  if (stored === undefined) throw new Error('an insert returned no row');
  await sql`delete from workspace.oauth_states where provider = ${provider}`;
  return stored;
}

/** Removes a provider with the sign-ins in progress there; false when there is none of this name. */
export async function deleteProvider(sql: Sql, provider: string): Promise<boolean> {
  const [row] = await sql`delete from workspace.oauth_providers where provider = ${provider} returning 1`;
  return row !== undefined;
}

function columns(sql: Sql): Fragment {
  return sql`provider, client_id, client_secret_sealed, auth_url, token_url, userinfo_url, scopes,
    issuer, token_auth_method, redirect_uris`;
}
