-- Keys of programs. Of a key's secret, which is random, only the SHA-256 is stored.

create table control.api_keys (
  id uuid primary key,
  name text not null,
  secret_hash bytea not null constraint api_keys_secret_hash unique,
  -- Null for a key of the server.
  workspace text references control.workspaces (id) on delete cascade,
  -- Null for a key of the server or of a workspace.
  app text,
  scopes text[] not null,
  -- The admin whose rights bound those of the key.
  maker uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_place check (app is null or workspace is not null)
);
create index api_keys_place on control.api_keys (workspace, app, id);
create index api_keys_maker on control.api_keys (maker);
