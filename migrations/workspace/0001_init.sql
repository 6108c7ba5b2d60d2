-- A workspace's database. `:workspace_role` holds the rights of every workspace's login role, `:app_role` those of
-- every app's: the runner puts the group roles' names in their place. A right given here counts in this database
-- only for the roles that may connect to it: its own.

-- Nothing is ever found without its schema's name, and PUBLIC can create nothing anywhere.
drop schema if exists public;
grant usage on schema workspace to :workspace_role, :app_role;

create table workspace.apps (
  id text constraint apps_id primary key,
  name text not null,
  -- Name of the app's schema and of the login role that owns it: opaque.
  schema text not null constraint apps_schema unique,
  -- Migrations (migrations/app) that the schema has.
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
grant select on workspace.apps to :workspace_role;

-- Apps that nobody has asked for yet: schema and role are ready, so that the first app of a workspace takes no time.
create table workspace.spare_apps (
  schema text primary key,
  version integer not null
);

create table workspace.users (
  id uuid constraint users_id primary key,
  -- Lower case.
  email text not null constraint users_email unique,
  password_hash text,
  verified boolean not null default false,
  totp_sealed bytea,
  totp_enabled boolean not null default false,
  last_login timestamptz,
  oauth_providers jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
grant select, insert, update, delete on workspace.users to :workspace_role;
-- An app's relation fields may point to users.
grant references (id) on workspace.users to :app_role;

-- What apps see of users: no hash, no secret.
create view workspace.users_public as
  select id, email, verified, password_hash is not null as has_password, totp_enabled, last_login,
    oauth_providers, created_at, updated_at
  from workspace.users;
grant select on workspace.users_public to :workspace_role, :app_role;

-- Refresh tokens of the workspace's admins and end-users; see control.sessions.
create table workspace.sessions (
  id uuid primary key,
  family uuid not null,
  kind text not null check (kind in ('admin', 'user')),
  principal_id uuid not null,
  -- An admin's row is in the control database, so only users can be referenced.
  user_id uuid generated always as (case kind when 'user' then principal_id end) stored
    references workspace.users (id) on delete cascade,
  -- The only app that the tokens are good for, when the login asked for one.
  app text,
  token_hash bytea not null constraint sessions_token_hash unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  rotated_at timestamptz,
  revoked_at timestamptz,
  user_agent text,
  ip text
);
create index sessions_family on workspace.sessions (family);
create index sessions_principal on workspace.sessions (principal_id);
create index sessions_user on workspace.sessions (user_id) where user_id is not null;
create index sessions_expires_at on workspace.sessions (expires_at);
grant select, insert, update, delete on workspace.sessions to :workspace_role;

create table workspace.lockouts (
  subject text primary key,
  -- The failures that count: those of the last 5 minutes, oldest first.
  failed_at timestamptz[] not null,
  last_failed_at timestamptz not null,
  locked_until timestamptz
);
create index lockouts_last_failed_at on workspace.lockouts (last_failed_at);
grant select, insert, update, delete on workspace.lockouts to :workspace_role;

-- Workspace scope and app scope. Tenant roles append, and can neither change nor remove.
create table workspace.audit_log (
  -- Version 7, so the order of ids is the order of time.
  id uuid primary key,
  ts timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  details jsonb not null,
  -- Null at workspace scope. The schema tells an app from an earlier one of the same id.
  app text,
  app_schema text,
  request_id text,
  ip text
);
create index audit_log_actor on workspace.audit_log (actor, id desc);
create index audit_log_app on workspace.audit_log (app_schema, id desc) where app_schema is not null;
grant select, insert on workspace.audit_log to :workspace_role;

-- Appends an entry for the app whose role is connected, whatever the caller says; null when there is no such app.
create function workspace.audit_app(
  id uuid, ts timestamptz, actor text, action text, target text, details jsonb, request_id text, ip text
) returns boolean language sql security definer set search_path = '' begin atomic
  insert into workspace.audit_log (id, ts, actor, action, target, details, app, app_schema, request_id, ip)
  select audit_app.id, audit_app.ts, audit_app.actor, audit_app.action, audit_app.target, audit_app.details,
    apps.id, apps.schema, audit_app.request_id, audit_app.ip
  from workspace.apps
  where apps.schema = session_user
  returning true;
end;
revoke execute on function workspace.audit_app from public;
grant execute on function workspace.audit_app to :app_role;
