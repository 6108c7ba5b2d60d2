-- Signing in by another provider (OAuth 2.0, OpenID Connect).

create table workspace.oauth_providers (
  provider text constraint oauth_providers_provider primary key,
  client_id text not null,
  -- Encrypted with the master key; null for a public client.
  client_secret_sealed bytea,
  auth_url text not null,
  token_url text not null,
  userinfo_url text not null,
  scopes text[] not null,
  token_auth_method text not null check (token_auth_method in ('client_secret_post', 'client_secret_basic')),
  -- The only ones that are good; null while nobody listed any.
  redirect_uris text[],
  created_at timestamptz not null,
  updated_at timestamptz not null
);
grant select, insert, update, delete on workspace.oauth_providers to :workspace_role;

-- A sign-in that is under way at a provider.
create table workspace.oauth_states (
  -- SHA-256 of the state.
  hash bytea primary key,
  -- A change of the provider ends what was begun with it.
  provider text not null references workspace.oauth_providers (provider) on delete cascade,
  redirect_uri text not null,
  -- RFC 7636: worth nothing without the provider's code.
  code_verifier text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index oauth_states_provider on workspace.oauth_states (provider);
create index oauth_states_expires_at on workspace.oauth_states (expires_at);
grant select, insert, update, delete on workspace.oauth_states to :workspace_role;

-- Which account at a provider is which user. They outlive the provider's row.
create table workspace.oauth_links (
  provider text not null,
  -- The userinfo URL that told the subject: another one may mean somebody else by it.
  source text not null,
  subject text not null,
  user_id uuid not null references workspace.users (id) on delete cascade,
  created_at timestamptz not null,
  constraint oauth_links_account primary key (provider, source, subject)
);
create index oauth_links_user on workspace.oauth_links (user_id);
grant select, insert, update, delete on workspace.oauth_links to :workspace_role;
