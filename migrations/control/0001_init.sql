-- The control database: who governs the server, which workspaces exist and in which database each lives.
-- Names are qualified everywhere: every connection has an empty search_path.

create table control.server (
  one boolean primary key default true check (one),
  initialized boolean not null default false,
  -- Says whether the master key is the one that this installation was made with.
  key_check bytea,
  created_at timestamptz not null default now()
);
insert into control.server default values;

create table control.master_admins (
  id uuid primary key,
  username text not null constraint master_admins_username unique,
  -- Null until setup.
  password_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Every database that was ever begun and not yet dropped. A row is committed before the database is created and
-- deleted after it is dropped, so that the reaper finds whatever a crash left.
create table control.tenant_databases (
  -- Name of the database and of the login role that may connect to it: opaque.
  name text primary key,
  state text not null check (state in ('creating', 'spare', 'assigned', 'dropping')),
  -- Migrations that the database and all its app schemas have.
  version integer not null,
  app_version integer not null,
  created_at timestamptz not null default now()
);
create index tenant_databases_state on control.tenant_databases (state, created_at) where state <> 'assigned';
-- Keeps the look at boot cheap however many workspaces there are.
create index tenant_databases_versions on control.tenant_databases (version, app_version);

create table control.workspaces (
  id text constraint workspaces_id primary key,
  name text not null,
  database text not null constraint workspaces_database unique references control.tenant_databases (name),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table control.admins (
  id uuid primary key,
  workspace text not null references control.workspaces (id) on delete cascade,
  -- Lower case.
  email text not null,
  name text not null,
  password_hash text not null,
  role text not null check (role in ('workspace_admin', 'app_admin')),
  -- Empty for a workspace admin. An app admin whose last app went keeps its role and reaches nothing.
  app_ids text[] not null default '{}',
  -- Sessions begun at or before this instant are over (they live in the workspace's database).
  credentials_changed_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint admins_workspace_email unique (workspace, email)
);

create table control.signing_keys (
  kid text primary key,
  algorithm text not null,
  public_jwk jsonb not null,
  -- Sealed with the master key (purpose `signing-key`, owner: the kid).
  private_sealed bytea not null,
  created_at timestamptz not null default now()
);

-- What makes access tokens useless before they expire.
--   jti        key: the token's jti
--   subject    key: the principal's id; tokens issued up to not_before are refused, but for the jti in scope.spared
--   scope      key: an admin's id; tokens issued up to not_before act with scope.role and scope.apps instead
--   workspace  key: the workspace's id; likewise, so that a workspace made again under the same id revives none
--   app        key: `<workspace>/<app>`; tokens issued up to not_before reach this app no longer
create table control.revocations (
  kind text not null check (kind in ('jti', 'subject', 'scope', 'workspace', 'app')),
  key text not null,
  not_before timestamptz not null,
  scope jsonb,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (kind, key)
);
create index revocations_expires_at on control.revocations (expires_at);

-- Refresh tokens of master admins; one row a token, a family a login. A used token stays (rotated_at) until it
-- expires, so that using it again is noticed. The access token issued with it has the row's id as its jti.
-- Of the same shape as workspace.sessions.
create table control.sessions (
  id uuid primary key,
  family uuid not null,
  kind text not null check (kind = 'master'),
  principal_id uuid not null references control.master_admins (id) on delete cascade,
  app text check (app is null),
  token_hash bytea not null constraint sessions_token_hash unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  rotated_at timestamptz,
  revoked_at timestamptz,
  user_agent text,
  ip text
);
create index sessions_family on control.sessions (family);
create index sessions_principal on control.sessions (principal_id);
create index sessions_expires_at on control.sessions (expires_at);

create table control.lockouts (
  subject text primary key,
  -- The failures that count: those of the last 5 minutes, oldest first.
  failed_at timestamptz[] not null,
  last_failed_at timestamptz not null,
  locked_until timestamptz
);
create index lockouts_last_failed_at on control.lockouts (last_failed_at);

-- System scope: what happens to the server and to workspaces.
create table control.audit_log (
  -- Version 7, so the order of ids is the order of time.
  id uuid primary key,
  ts timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  details jsonb not null,
  workspace text,
  request_id text,
  ip text
);
create index audit_log_actor on control.audit_log (actor, id desc);
